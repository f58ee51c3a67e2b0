/*
 * Any bytes as a file of one format: opened, loaded, every row read.
 */
#ifndef CR_TESTS_FUZZ_FILE_H
#define CR_TESTS_FUZZ_FILE_H

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "data/format.h"

#define FUZZ_BYTES_MAX ((size_t)1 << 24) /* of content that is read */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int fuzz_file(const struct cr_format *format, const uint8_t *data,
                     size_t size)
{
    struct cr_arena mem = { 0 };
    struct cr_diag diag = { .arena = &mem };
    struct cr_spec spec = { 0 };
    struct cr_file *file;
    const char *path;
    int fd = memfd_create("fuzz", MFD_CLOEXEC);

    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    path = cr_strf(&mem, "/proc/self/fd/%d", fd);
    file = format->open(&mem, &diag, path, &spec);
    if (!file != (diag.errors > 0))
        abort(); /* refused without a word, or the other way round */
    if (file) {
        int64_t rows = spec.rank > 0 ? spec.dim[0] : 1, i;
        bool good = cr_bytes(&spec) <= FUZZ_BYTES_MAX;

        if (good && format->load)
            good = format->load(file, &diag);
        if (good)
            good = format->read(file, &diag, 0, rows,
                                cr_alloc(&mem, cr_bytes(&spec) + 1, 1));
        if (good && format->indices && format->indices(file, &diag, &spec))
            format->read(file, &diag, 0, rows,
                         cr_alloc(&mem, cr_bytes(&spec) + 1, 1));
        /* rows of no bytes may be many */
        for (i = 0; good && format->at && spec.rank > 0 && i < rows &&
                    i < (int64_t)FUZZ_BYTES_MAX >> 8;
             i++)
            if (!format->at(file, i))
                abort();
        format->close(file);
    }
    close(fd);
    cr_arena_free(&mem);
    return 0;
}

#endif

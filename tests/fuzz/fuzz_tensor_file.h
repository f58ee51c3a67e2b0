/*
 * Any bytes as a file of tensors: opened, verified, every tensor read.
 */
#ifndef CR_TESTS_FUZZ_STORE_H
#define CR_TESTS_FUZZ_STORE_H

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ckpt/tensor_file.h"

#define FUZZ_VALUES_MAX (1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_store(const uint8_t *data, size_t size)
{
    static int fd = -1;
    struct cr_arena mem = { 0 };
    struct cr_diag diag = { .arena = &mem };
    const struct cr_tensor_info *entry;
    struct cr_tensor_file *store;
    bool sound;
    int n, m;

    if (fd < 0)
        fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
        abort();
    store =
        cr_tensor_file_open(&mem, &diag, cr_strf(&mem, "/proc/self/fd/%d", fd));
    if (!store != (diag.errors > 0))
        abort(); /* refused without a word, or the other way round */
    if (!store)
        goto done;
    sound = cr_tensor_file_verify(store, &diag);
    entry = cr_tensor_file_entries(store, &n);
    cr_tensor_file_metas(store, &m);
    for (int i = 0; i < n; i++) {
        const struct cr_spec *spec = &entry[i].spec;

        if (cr_tensor_file_find(store, entry[i].name) != &entry[i])
            abort();
        if (!entry[i].readable || cr_count(spec) > FUZZ_VALUES_MAX)
            continue;
        if (cr_count(spec) * (int64_t)cr_type_size(spec->type) !=
            (int64_t)entry[i].bytes)
            abort();
        if (!cr_tensor_file_read(store, &diag, &entry[i], CR_F64,
                                 CR_NEWS(&mem, double, cr_count(spec))) &&
            sound)
            abort();
    }
done:
    cr_tensor_file_close(store);
    cr_arena_free(&mem);
}

#endif

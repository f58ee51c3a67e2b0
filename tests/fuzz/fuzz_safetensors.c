/*
 * Any bytes as a checkpoint, safetensors or NPZ file: opened, verified, every
 * tensor read. A file that begins as ours does is tried a second time with
 * the checksum of its header put right, or nothing behind that would ever be
 * reached.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/gz.h"
#include "ckpt/store.h"

enum {
    VALUES_MAX = 1 << 20
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_try(int fd, const uint8_t *data, size_t size)
{
    struct cr_arena mem = { 0 };
    struct cr_diag diag = { .arena = &mem };
    const struct cr_entry *entry;
    struct cr_store *store;
    bool sound;
    int n, m;

    if (ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
        abort();
    store = cr_store_open(&mem, &diag, cr_strf(&mem, "/proc/self/fd/%d", fd));
    if (!store != (diag.errors > 0))
        abort(); /* refused without a word, or the other way round */
    if (!store)
        goto done;
    sound = cr_store_verify(store, &diag);
    entry = cr_store_entries(store, &n);
    cr_store_metas(store, &m);
    for (int i = 0; i < n; i++) {
        const struct cr_spec *spec = &entry[i].spec;

        if (cr_store_find(store, entry[i].name) != &entry[i])
            abort();
        if (!entry[i].readable || cr_count(spec) > VALUES_MAX)
            continue;
        if (cr_count(spec) * (int64_t)cr_type_size(spec->type) !=
            (int64_t)entry[i].bytes)
            abort();
        if (!cr_store_read(store, &diag, &entry[i], CR_F64,
                           CR_NEWS(&mem, double, cr_count(spec))) &&
            sound)
            abort();
    }
done:
    cr_store_close(store);
    cr_arena_free(&mem);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    size_t head, at = CR_ST_CRC_AT;
    char digits[9];
    uint8_t *copy;

    if (fd < 0)
        fd = memfd_create("fuzz", MFD_CLOEXEC);
    fuzz_try(fd, data, size);
    if (size < 80 || memcmp(data + 8, CR_ST_PREFIX, CR_ST_PREFIX_LEN) != 0)
        return 0;
    head = 8 + ((size_t)data[0] | (size_t)data[1] << 8);
    if (head > size || head < 80)
        return 0;
    copy = malloc(size);
    if (!copy)
        return 0;
    memcpy(copy, data, size);
    memset(copy + 2, 0, 6);
    memset(copy + at, '0', 8);
    snprintf(digits, sizeof digits, "%08" PRIx32, cr_crc32(0, copy, head));
    memcpy(copy + at, digits, 8);
    fuzz_try(fd, copy, size);
    free(copy);
    return 0;
}

/*
 * Any bytes as the training file of CIFAR-10 or CIFAR-100 (the first byte
 * chooses): refused with a word, or every record is read and holds what the
 * bytes say.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/str.h"
#include "data/fixed_records.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A folder whose file is the descriptor. */
static const char *fuzz_folder(struct cr_arena *mem, int fd, const char *name)
{
    char *dir = cr_strdup(mem, "/tmp/cellrun-fuzz-cifar-XXXXXX");
    const char *target = cr_strf(mem, "/proc/self/fd/%d", fd);

    if (!mkdtemp(dir) ||
        symlink(target, cr_strf(mem, "%s/%s", dir, name)) != 0)
        abort();
    return dir;
}

static void fuzz_records(struct cr_dataset *set, struct cr_diag *diag,
                         const uint8_t *data, size_t size)
{
    size_t labels = (size_t)set->columns - 1, each = labels + 3072;
    unsigned char image[3072];
    int64_t i, k;
    int c;

    if ((size_t)set->count * each != size || size == 0)
        abort();
    for (i = 0; i < set->count; i++, data += each) {
        for (c = 1; c < set->columns; c++) {
            uint32_t label;

            if (!set->type->read(set, diag, i, c, &label) ||
                label != data[c - 1] ||
                (c == set->columns - 1 && label >= set->classes))
                abort();
        }
        if (!set->type->read(set, diag, i, 0, image))
            abort();
        for (k = 0; k < 3072; k++)
            if (image[k % 1024 * 3 + k / 1024] != data[labels + (size_t)k])
                abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cr_arena mem = { 0 };
    struct cr_diag diag = { .arena = &mem };
    struct cr_config_from from = { .text = "cellrun: 1\n" };
    struct cr_config *config = cr_config_load(&mem, &diag, &from);
    bool hundred = size > 0 && data[0] & 1;
    const char *name = hundred ? "train.bin" : "data_batch_1.bin";
    struct cr_fixed_records_opts opts = { .usage = CR_FIXED_RECORDS_TRAIN };
    struct cr_dataset set = {
        .type = (const struct cr_dataset_type *)cr_registry_find(
            CR_KIND_DATASET, hundred ? "Cifar100Dataset" : "Cifar10Dataset"),
    };
    int fd = memfd_create("fuzz", MFD_CLOEXEC);

    data += size > 0;
    size -= size > 0;
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    opts.dataset_dir = fuzz_folder(&mem, fd, name);
    if (set.type->open(config, &opts, CR_NOWHERE, &set) !=
        (diag.errors == 0))
        abort(); /* refused without a word, or the other way round */
    if (diag.errors == 0)
        fuzz_records(&set, &diag, data, size);
    if (set.self)
        set.type->close(&set);
    unlink(cr_path_join(&mem, opts.dataset_dir, name));
    rmdir(opts.dataset_dir);
    close(fd);
    cr_arena_free(&mem);
    return 0;
}

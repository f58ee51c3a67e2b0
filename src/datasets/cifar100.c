/* Cifar100Dataset: CIFAR-100, binary version, whose records cellrun-formats(7)
 * describes. */
#include "data/fixed_records.h"

static const struct cr_opt cifar100_opts[] = {
    CR_FIXED_RECORDS_OPTS,
    { 0 },
};

static const char *const cifar100_train[] = {
    "train.bin", NULL,
};
static const char *const cifar100_test[] = { "test.bin", NULL };
static const char *const cifar100_labels[] = {
    "coarse_label", "fine_label", NULL
};

static const struct cr_fixed_records_of cifar100_of = {
    .train = cifar100_train,
    .test = cifar100_test,
    .labels = cifar100_labels,
    .classes = (const int64_t[]){ 20, 100 },
    .channels = 3,
    .height = 32,
    .width = 32,
    .advice = "the files are in cifar-100-binary.tar.gz, the binary version",
};

static bool cifar100_open(struct cr_config *config, const void *opts,
                    struct cr_pos pos, struct cr_dataset *to)
{
    return cr_fixed_records_open(config, opts, pos, &cifar100_of, to);
}

const struct cr_dataset_type cr_dataset_cifar100 = {
    .about = {
        .name = "Cifar100Dataset",
        .summary = "CIFAR-100, binary version.",
        .detail = "Columns: image uint8 (32, 32, 3), coarse_label and "
                  "fine_label, uint32.",
        .example = "dataset:\n"
                   "  train: {Cifar100Dataset: {dataset_dir: cifar100, "
                   "usage: train}}\n",
        .opts = cifar100_opts,
        .size = sizeof(struct cr_fixed_records_opts),
    },
    .open = cifar100_open,
    .read = cr_fixed_records_read,
    .close = cr_fixed_records_close,
};

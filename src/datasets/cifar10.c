/* Cifar10Dataset: CIFAR-10, binary version, whose records cellrun-formats(7)
 * describes. */
#include "data/fixed_records.h"

static const struct cr_opt cifar10_opts[] = {
    CR_FIXED_RECORDS_OPTS,
    { 0 },
};

static const char *const cifar10_train[] = {
    "data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
    "data_batch_4.bin", "data_batch_5.bin", NULL,
};
static const char *const cifar10_test[] = { "test_batch.bin", NULL };
static const char *const cifar10_labels[] = { "label", NULL };

static const struct cr_fixed_records_of cifar10_of = {
    .train = cifar10_train,
    .test = cifar10_test,
    .labels = cifar10_labels,
    .classes = (const int64_t[]){ 10 },
    .channels = 3,
    .height = 32,
    .width = 32,
    .advice = "the files are in cifar-10-binary.tar.gz, the binary version",
};

static bool cifar10_open(struct cr_config *config, const void *opts,
                    struct cr_pos pos, struct cr_dataset *to)
{
    return cr_fixed_records_open(config, opts, pos, &cifar10_of, to);
}

const struct cr_dataset_type cr_dataset_cifar10 = {
    .about = {
        .name = "Cifar10Dataset",
        .summary = "CIFAR-10, binary version.",
        .detail = "Columns: image, uint8 (32, 32, 3), and label, uint32.",
        .example = "dataset:\n"
                   "  train: {Cifar10Dataset: {dataset_dir: cifar10, "
                   "usage: train}}\n",
        .opts = cifar10_opts,
        .size = sizeof(struct cr_fixed_records_opts),
    },
    .open = cifar10_open,
    .read = cr_fixed_records_read,
    .close = cr_fixed_records_close,
};

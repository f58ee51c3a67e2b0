/* NumpySlicesDataset: .npy files, one per column. */
#include "data/array.h"

struct numpy_slices {
    struct cr_strs data, column_names;
    int64_t num_samples;
    const struct cr_node *shuffle;
};

static const struct cr_opt numpy_slices_opts[] = {
    CR_STRS(struct numpy_slices, data, "One .npy file per column."),
    CR_STRS(struct numpy_slices, column_names, "Names of the columns."),
    CR_INT_OPTIONAL(
        struct numpy_slices, num_samples, 1, CR_DIM_MAX,
        "Use only this many samples: the first ones or, if shuffled, "
        "a new random choice in each epoch."),
    CR_NODE(struct numpy_slices, shuffle,
            "Shuffle anew in each epoch. Default: true for training data, "
            "else false."),
    { 0 },
};

static bool numpy_slices_open(struct cr_config *config, const void *opts,
                     struct cr_pos pos, struct cr_dataset *to)
{
    const struct numpy_slices *o = opts;

    return cr_arrays_named(config, pos, &o->data, &o->column_names, to);
}

const struct cr_dataset_type cr_dataset_numpy_slices = {
    .about = {
        .name = "NumpySlicesDataset",
        .summary = "Columns from .npy files, sliced along the first axis.",
        .detail = "The first axis counts the samples; it must be equal in "
                  "all files.",
        .example = "dataset:\n"
                   "  train: {NumpySlicesDataset: {data: [x.npy, y.npy], "
                   "column_names: [x, label]}}\n",
        .opts = numpy_slices_opts,
        .size = sizeof(struct numpy_slices),
    },
    .open = numpy_slices_open,
    .load = cr_arrays_load,
    .read = cr_arrays_read,
    .at = cr_arrays_at,
    .close = cr_arrays_close,
};

/* IdxDataset: any IDX files, one per column. */
#include "data/array.h"

struct idx {
    struct cr_strs files, column_names;
    int64_t num_samples;
    const struct cr_node *shuffle;
};

static const struct cr_opt idx_opts[] = {
    CR_STRS(struct idx, files, "One file per column, plain or gzip."),
    CR_STRS(struct idx, column_names, "Names of the columns."),
    CR_INT_OPTIONAL(
        struct idx, num_samples, 1, CR_DIM_MAX,
        "Use only this many samples: the first ones or, if shuffled, "
        "a new random choice in each epoch."),
    CR_NODE(struct idx, shuffle,
            "Shuffle anew in each epoch. Default: true for training data, "
            "else false."),
    { 0 },
};

static bool idx_open(struct cr_config *config, const void *opts,
                     struct cr_pos pos, struct cr_dataset *to)
{
    const struct idx *o = opts;

    return cr_arrays_named(config, pos, &o->files, &o->column_names, to);
}

const struct cr_dataset_type cr_dataset_idx = {
    .about = {
        .name = "IdxDataset",
        .summary = "Columns from IDX files of any shape.",
        .detail = "The first axis counts the samples; it must be equal in "
                  "all files.",
        .example = "dataset:\n"
                   "  train: {IdxDataset: {files: [x.idx, y.idx], "
                   "column_names: [image, label]}}\n",
        .opts = idx_opts,
        .size = sizeof(struct idx),
    },
    .open = idx_open,
    .load = cr_arrays_load,
    .read = cr_arrays_read,
    .at = cr_arrays_at,
    .close = cr_arrays_close,
};

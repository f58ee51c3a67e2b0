/*
 * Data sets whose files are records without a header: a few bytes of labels,
 * then an image, channel by channel (CIFAR).
 */
#ifndef CR_DATA_FIXED_RECORDS_H
#define CR_DATA_FIXED_RECORDS_H

#include "data/dataset.h"

/* The options of such a data set; CR_FIXED_RECORDS_OPTS are their rows. */
struct cr_fixed_records_opts {
    const char *dataset_dir;
    int usage;
    int64_t num_samples;
    const struct cr_node *shuffle;
};

#define CR_FIXED_RECORDS_OPTS                                                \
    CR_STR(struct cr_fixed_records_opts, dataset_dir,                        \
           "Folder of the .bin files; relative to the config, then to the "  \
           "folders of CELLRUN_DATA."),                                      \
        CR_ENUM_DEFAULT(struct cr_fixed_records_opts, usage,                 \
                        CR_FIXED_RECORDS_ALL, "train|test|all",              \
                        "Files to read."),                                   \
        CR_INT_OPTIONAL(struct cr_fixed_records_opts, num_samples, 1,        \
                        CR_DIM_MAX,                                          \
                        "Use only this many samples: the first ones or, if " \
                        "shuffled, a new random choice in each epoch."),     \
        CR_NODE(struct cr_fixed_records_opts, shuffle,                       \
                "Shuffle anew in each epoch. Default: true for training "    \
                "data, else false.")

enum {
    CR_FIXED_RECORDS_TRAIN,
    CR_FIXED_RECORDS_TEST,
    CR_FIXED_RECORDS_ALL
};

struct cr_fixed_records_of {
    const char *const *train, *const *test; /* names, NULL-terminated */
    const char *const *labels; /* columns, in the order of their bytes */
    const int64_t *classes;    /* number of classes of each label */
    int64_t channels, height, width;
    const char *advice; /* a note for a missing file: where to get it */
};

/* Opens the files, maps them and checks every label. Columns: image, uint8
 * (height, width, channels), and the labels, uint32. False after reporting.
 * *of must live as long as the data set. */
bool cr_fixed_records_open(struct cr_config *config,
                           const struct cr_fixed_records_opts *opts,
                           struct cr_pos pos,
                           const struct cr_fixed_records_of *of,
                           struct cr_dataset *to);
bool cr_fixed_records_read(struct cr_dataset *set, struct cr_diag *diag,
                           int64_t i, int column, void *to);
void cr_fixed_records_close(struct cr_dataset *set);

#endif

/*
 * Files of records without a header: a few bytes of labels, then an image,
 * channel by channel (CIFAR). What such data sets share.
 */
#ifndef CR_DATA_RECORDS_H
#define CR_DATA_RECORDS_H

#include "data/dataset.h"

/* The options of such a data set, in this order. */
struct cr_records_opts {
    const char *dataset_dir;
    int usage;
    int64_t num_samples;
    const struct cr_node *shuffle;
};

#define CR_RECORDS_OPTS                                                     \
    CR_STR(struct cr_records_opts, dataset_dir,                             \
           "Folder of the .bin files; relative to the config, then to the " \
           "folders of CELLRUN_DATA."),                                     \
        CR_ENUM_DEFAULT(struct cr_records_opts, usage, CR_RECORDS_ALL,      \
                        "train|test|all", "Which part of the set."),        \
        CR_INT_OPTIONAL(                                                    \
            struct cr_records_opts, num_samples, 1, CR_DIM_MAX,             \
            "So many samples: the first ones, or, shuffled, others "        \
            "in every epoch."),                                             \
        CR_NODE(struct cr_records_opts, shuffle,                            \
                "Whether each epoch has an order of its own; true for "     \
                "training data unless given.")

enum {
    CR_RECORDS_TRAIN,
    CR_RECORDS_TEST,
    CR_RECORDS_ALL
};

struct cr_records_of {
    const char *const *train, *const *test; /* names, NULL-terminated */
    const char *const *labels; /* columns in the order of their bytes */
    const int64_t *classes;    /* of each */
    int64_t channels, height, width;
    const char *advice; /* where the files come from */
};

/* Columns: image uint8 (height, width, channels), and the labels, uint32.
 * *of must stay. */
bool cr_records_open(struct cr_config *config,
                     const struct cr_records_opts *opts, struct cr_pos pos,
                     const struct cr_records_of *of, struct cr_dataset *to);
bool cr_records_read(struct cr_dataset *set, struct cr_diag *diag, int64_t i,
                     int column, void *to);
void cr_records_close(struct cr_dataset *set);

#endif

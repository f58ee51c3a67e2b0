/*
 * A single batch for trace and gradcheck: columns from files, or the first
 * batch of the training data.
 */
#ifndef CR_MODEL_SINGLE_BATCH_H
#define CR_MODEL_SINGLE_BATCH_H

#include "conf/config.h"
#include "data/data_loader.h"

struct cr_single_batch {
    struct cr_arena
        *arena; /* set by the caller, like diag, config, feed and seed */
    struct cr_diag *diag;
    struct cr_config *config;
    struct cr_strs feed;    /* COLUMN=FILE.npy; none: the training data */
    uint64_t seed;
    struct cr_data_loader *loader; /* NULL: columns come from files */
    int n_columns;
    struct cr_column column[CR_COLUMNS_MAX];
    const void *data[CR_COLUMNS_MAX];
    const int64_t *samples;
    int64_t batch, classes;
};

/* Reads a .npy file of at least one row. NULL after reporting. */
const void *cr_single_batch_array(struct cr_arena *arena, struct cr_diag *diag,
                                  const char *path, struct cr_spec *spec);
/* Sets columns and batch size, and reads the files. False after reporting. */
bool cr_single_batch_open(struct cr_single_batch *single);
/* Reads the batch if it comes from the data set. False after reporting. */
bool cr_single_batch_read(struct cr_single_batch *single);
void cr_single_batch_close(struct cr_single_batch *single);

#endif

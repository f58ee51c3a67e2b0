/*
 * One batch to look at a network with: columns from files, or the first batch
 * of the training data. trace and gradcheck.
 */
#ifndef CR_TRAIN_SINGLE_BATCH_H
#define CR_TRAIN_SINGLE_BATCH_H

#include "conf/config.h"
#include "data/data_loader.h"

struct cr_single_batch {
    struct cr_arena *arena; /* to be set, with diag, config, feed and seed */
    struct cr_diag *diag;
    struct cr_config *config;
    struct cr_strs feed;    /* COLUMN=FILE.npy; none: the training data */
    uint64_t seed;
    struct cr_data_loader *loader; /* NULL: columns are fed */
    int n_columns;
    struct cr_column column[CR_COLUMNS_MAX];
    const void *data[CR_COLUMNS_MAX];
    const int64_t *samples;
    int64_t batch, classes;
};

/* The elements of a .npy file that has at least one row; NULL after
 * reporting. */
const void *cr_single_batch_array(struct cr_arena *arena, struct cr_diag *diag,
                                  const char *path, struct cr_spec *spec);
/* Columns and batch size; files are read. False after reporting. */
bool cr_single_batch_open(struct cr_single_batch *single);
/* Reads the batch where it comes from the data set. */
bool cr_single_batch_read(struct cr_single_batch *single);
void cr_single_batch_close(struct cr_single_batch *single);

#endif

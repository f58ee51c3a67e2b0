/*
 * Reads every sample of a split as the data set stores it, before the datapipe,
 * with all threads of the pool (data stats, verify and convert).
 */
#ifndef CR_DATA_SCAN_H
#define CR_DATA_SCAN_H

#include "data/data_loader.h"

/* A sample; a column that cannot be read is NULL. */
struct cr_scan_sample {
    int64_t index;                 /* in the data set */
    const void *x[CR_COLUMNS_MAX]; /* texts: a struct cr_ragged */
    struct cr_spec spec[CR_COLUMNS_MAX];
};

struct cr_scan {
    size_t bytes; /* of the result of a sample, zeroed before `read` */
    /* Computes the result of a sample; called by several threads at once. */
    void (*read)(void *ctx, const struct cr_scan_sample *sample, void *result);
    /* Takes the results in the order of the split, in the caller's thread;
     * `errors` has the messages about columns that cannot be read. */
    void (*take)(void *ctx, int64_t index, const void *result,
                 const struct cr_diag *errors);
    void *ctx;
};

/* False after reporting that the data cannot be loaded at all. */
bool cr_data_loader_scan(struct cr_data_loader *loader, struct cr_diag *diag,
                         const struct cr_scan *scan);
/* The number of samples that it reads. */
int64_t cr_data_loader_scan_samples(const struct cr_data_loader *loader);
/* The position of a sample in its files, or its file; CR_NOWHERE: unknown. */
struct cr_pos cr_data_loader_where(const struct cr_data_loader *loader,
                                   struct cr_arena *arena, int64_t index);

#endif

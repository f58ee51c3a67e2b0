/*
 * From a data set to batches: shuffle, transforms, batch, prefetch.
 *
 * Batch k of epoch e is a function of config, data, seed, e and k, bit for bit:
 * it does not depend on the number of workers or on whether the run was
 * resumed. Opening a data loader plans it, which finds all errors of the
 * datapipe; it reads only headers until the first batch is requested.
 *
 * Workers are threads that fill a ring of batches in advance. workers: auto
 * uses none if samples are cheap (tables over data in memory): then the thread
 * pool (base/thread_pool.h) fills each batch between steps, split by samples.
 */
#ifndef CR_DATA_DATA_LOADER_H
#define CR_DATA_DATA_LOADER_H

#include "data/dataset.h"

struct cr_data_loader;

#define CR_SIZES_MAX 16 /* shapes that the batches of a column may have */

struct cr_batch {
    int64_t n;              /* rows: batch_size, or less in the last one */
    int64_t epoch, index;   /* from 0 */
    int columns;
    void *data[CR_COLUMNS_MAX]; /* (n, ...) each, 64-byte aligned */
    int size_index;             /* index of its shape, if there are several */
    const struct cr_column *column; /* the columns in that shape */
    const int64_t *samples;         /* n indices in the data set */
    const int64_t *repeats; /* how often each has occurred before in the epoch;
                               NULL: never */
};

struct cr_data_loader_opts {
    const char *split;      /* "train", "eval", "test" */
    bool train;             /* shuffle by default; apply `only: train` */
    uint64_t seed;
    int64_t batch_size;     /* > 0 overrides datapipe.batch.batch_size */
    int64_t limit;          /* > 0: use the first samples only */
    double limit_fraction;  /* > 0: or that fraction of them */
    int64_t overfit_batches;       /* > 0: repeat the first N batches */
    const struct cr_node *dataset; /* used in place of the section's node */
    const char *path;       /* folder or file to read instead (eval --data) */
    bool one_size;          /* all batches in the first of several shapes */
    bool stored;  /* no transforms and no batches: cr_data_loader_texts only */
    bool headers; /* only the columns are needed: do not look for
                     unreadable samples */
};

/* Opens and plans a data loader, which owns its memory. NULL after
 * reporting. */
struct cr_data_loader *
cr_data_loader_open(struct cr_config *config,
                    const struct cr_data_loader_opts *want);
void cr_data_loader_close(struct cr_data_loader *loader);

/* Whether the config has that data: as dataset.eval, or as a part of the
 * training data that dataset.split creates. */
bool cr_data_loader_has(const struct cr_config *config, const char *split);

/* The columns of a batch; *n is their number. */
const struct cr_column *
cr_data_loader_columns(const struct cr_data_loader *loader, int *n);
/* Whether NaN in that column is a missing value: of a table, or where
 * FillMissing replaces it. */
bool cr_data_loader_misses(const struct cr_data_loader *loader, int column);
/* The data set in the config, or its files where an argument of the command
 * line names them. */
struct cr_pos cr_data_loader_pos(const struct cr_data_loader *loader);
/* The number of shapes that batches may have (MultiScale), and the columns in
 * one of them; those of the first are cr_data_loader_columns. */
int cr_data_loader_n_sizes(const struct cr_data_loader *loader);
const struct cr_column *
cr_data_loader_columns_of_size(const struct cr_data_loader *loader, int scale);
int64_t
cr_data_loader_samples(const struct cr_data_loader *loader); /* per epoch */
/* Warns at the node if the first n samples, to which `what` limits the data,
 * are all of one class, but the data have others (class_stats.c). */
void cr_data_loader_warn_class(const struct cr_data_loader *loader, int64_t n,
                               const struct cr_node *node, const char *what);
int64_t
cr_data_loader_batches(const struct cr_data_loader *loader); /* per epoch */
int64_t cr_data_loader_batch_size(const struct cr_data_loader *loader);
const struct cr_dataset *
cr_data_loader_dataset(const struct cr_data_loader *loader);
const char *
cr_data_loader_describe(const struct cr_data_loader *loader,
                        struct cr_arena *arena); /* the plan, as text */

/* Prepares the first batch: loads data into memory, and fits transforms to the
 * training data, for which it opens another data loader if needed. The first
 * batch does it otherwise. False after reporting. */
bool cr_data_loader_prepare(struct cr_data_loader *loader,
                            struct cr_diag *diag);
/* The fitted values, by column and index, as a map of lists; NULL: none. */
const struct cr_node *cr_data_loader_fitted(const struct cr_data_loader *loader,
                                            struct cr_arena *arena);

/* Adds the name of the data set to a message about a sample. */
void cr_data_loader_note(const struct cr_data_loader *loader,
                         struct cr_diag *diag);

/* Calls `each` with the texts of a column, of the samples of an epoch in stored
 * order. False after reporting. */
bool cr_data_loader_texts(struct cr_data_loader *loader, struct cr_diag *diag,
                          const char *column,
                          bool (*each)(void *ctx, const char *text, size_t len),
                          void *ctx);

/* Makes batch `index` of `epoch` the result of the next cr_data_loader_next.
 * Constant time. */
void cr_data_loader_seek(struct cr_data_loader *loader, int64_t epoch,
                         int64_t index);
/* Under mpirun: of the columns marked in `local`, batches have only the rows
 * of this process (cr_mpi_rows), except those with fewer rows than there are
 * processes; the others are undefined. Call it before the first batch. */
void cr_data_loader_share(struct cr_data_loader *loader, const bool *local);
/* Has each process get the other rows of a batch, too: collective. */
void cr_data_loader_gather(const struct cr_data_loader *loader,
                           const struct cr_batch *batch);
/* The next batch, valid until the next call. NULL at the end of an epoch (the
 * following call starts the next epoch), or after reporting. */
const struct cr_batch *cr_data_loader_next(struct cr_data_loader *loader,
                                           struct cr_diag *diag);

/* The results for the stored bytes 0 and 255 in element i of a column in that
 * shape; false if the last transforms are not a function of the byte. */
bool cr_data_loader_levels(const struct cr_data_loader *loader, int scale,
                           int column, int64_t i, double *black, double *white);

/* The transforms of one column, for samples that are not of a data set
 * (predict). _plan sets *out; NULL after reporting. _apply computes one sample;
 * false after reporting. */
struct cr_column_pipeline;
struct cr_column_pipeline *
cr_column_pipeline_plan(struct cr_config *config, const char *column,
                        const struct cr_spec *in, const struct cr_strs *classes,
                        bool train, struct cr_spec *out);
bool cr_column_pipeline_apply(struct cr_column_pipeline *loader,
                              struct cr_diag *diag, int64_t index,
                              const void *x, void *y);
/* The plan of transform i of those that it applies, and the transform; NULL
 * after the last. */
struct cr_transform;
const struct cr_transform_plan *
cr_column_pipeline_step(const struct cr_column_pipeline *pipeline, int i,
                        const struct cr_transform **transform);

#endif

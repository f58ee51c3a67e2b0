/*
 * From a data set to batches: shuffle, transforms, batch, prefetch.
 *
 * Which samples stand in batch k of epoch e, and every bit of them, is a
 * function of config, data, seed, e and k alone: any number of workers, a
 * resumed run and a repeated run see the same. A data loader is planned when it
 * is opened (every mistake in the datapipe is found then, at its line), and
 * reads nothing but headers until the first batch is asked for.
 *
 * Workers (threads of the data loader) fill a ring of batches ahead of the
 * reader. workers: auto means none when a sample costs next to nothing (tables
 * over data in memory): then the caller's threads fill the batch between steps,
 * split by rows over the pool (base/thread_pool.h).
 */
#ifndef CR_DATA_DATA_LOADER_H
#define CR_DATA_DATA_LOADER_H

#include "data/dataset.h"

struct cr_data_loader;

#define CR_SIZES_MAX 16 /* shapes that a column's batches may have */

struct cr_batch {
    int64_t n;              /* rows: batch_size, or less in the last one */
    int64_t epoch, index;   /* from 0 */
    int columns;
    void *data[CR_COLUMNS_MAX]; /* (n, ...) each, 64-byte aligned */
    int size_index;             /* which of several shapes it has */
    const struct cr_column *column; /* with the specs of that one */
    const int64_t *samples; /* indices in the data set, n of them */
    const int64_t *repeats; /* how often each was drawn before in the epoch;
                               NULL: once each */
};

struct cr_data_loader_opts {
    const char *split;      /* "train", "eval", "test" */
    bool train;             /* shuffles unless told otherwise; `only: train` */
    uint64_t seed;
    int64_t batch_size;     /* > 0 overrides datapipe.batch.batch_size */
    int64_t limit;          /* > 0: use the first samples only */
    double limit_fraction;  /* > 0: or that part of them */
    int64_t overfit_batches; /* > 0: the first N batches, again and again */
    const struct cr_node *dataset; /* used instead of the section's node */
    const char *path;       /* data set from a folder (eval --data DIR) */
    bool one_size;          /* every batch in the first of several shapes */
    bool stored; /* no ops and no batches: cr_data_loader_texts alone */
    bool headers;           /* only columns are asked for, so samples that
                               cannot be read are not looked for */
};

/* NULL after reporting. All memory is the data loader's own. */
struct cr_data_loader *
cr_data_loader_open(struct cr_config *config,
                    const struct cr_data_loader_opts *want);
void cr_data_loader_close(struct cr_data_loader *loader);

/* Whether the config has data of that name: dataset.eval, or a part of train
 * that dataset.split makes. */
bool cr_data_loader_has(const struct cr_config *config, const char *split);

/* Only plans the datapipe of column `name` for samples that come from
 * elsewhere (predict): applies it to one sample. */
const struct cr_column *
cr_data_loader_columns(const struct cr_data_loader *loader, int *n);
/* How many shapes its batches may have (MultiScale), and the columns of one;
 * those of the first are cr_data_loader_columns. */
int cr_data_loader_n_sizes(const struct cr_data_loader *loader);
const struct cr_column *
cr_data_loader_columns_of_size(const struct cr_data_loader *loader, int scale);
int64_t
cr_data_loader_samples(const struct cr_data_loader *loader); /* per epoch */
/* Warns at the node where the first n samples, which `what` leaves, are all
 * of one class, though the data have others (class_stats.c). */
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

/* What the first batch needs: data in memory, and what ops learn from the
 * training data, for which another data loader is opened if this one has
 * others. Done unasked when the first batch is read. */
bool cr_data_loader_prepare(struct cr_data_loader *loader,
                            struct cr_diag *diag);
/* What they learnt, by column and place, as a map of lists; NULL: nothing. */
const struct cr_node *cr_data_loader_fitted(const struct cr_data_loader *loader,
                                            struct cr_arena *arena);

/* To a message about a sample of a batch: which data set it is of. */
void cr_data_loader_note(const struct cr_data_loader *loader,
                         struct cr_diag *diag);

/* The texts of a column, of the samples that an epoch has, in stored order.
 * False after reporting. */
bool cr_data_loader_texts(struct cr_data_loader *loader, struct cr_diag *diag,
                          const char *column,
                          bool (*each)(void *ctx, const char *text, size_t len),
                          void *ctx);

/* Goes to batch `index` of `epoch`: the next cr_data_loader_next gives it.
 * Cheap. */
void cr_data_loader_seek(struct cr_data_loader *loader, int64_t epoch,
                         int64_t index);
/* The next batch, NULL at the end of the epoch (the call after that begins
 * the next epoch) or after an error (errors are in diag then). The batch
 * stays valid until the next call. */
const struct cr_batch *cr_data_loader_next(struct cr_data_loader *loader,
                                           struct cr_diag *diag);

/* What 0 and 255 of the stored bytes became in element i of a column in that
 * shape, where its last ops are a function of the byte; false where that is
 * not so. */
bool cr_data_loader_levels(const struct cr_data_loader *loader, int scale,
                           int column, int64_t i, double *black, double *white);

/* A datapipe alone, for samples from files or memory (predict). */
struct cr_column_pipeline;
struct cr_column_pipeline *
cr_column_pipeline_plan(struct cr_config *config, const char *column,
                        const struct cr_spec *in, const struct cr_strs *classes,
                        bool train, struct cr_spec *out);
bool cr_column_pipeline_apply(struct cr_column_pipeline *loader,
                              struct cr_diag *diag, int64_t index,
                              const void *x, void *y);

#endif

/*
 * The data loader: filled in when it is opened (data_loader.c), used to make
 * batches (batch.c) and to fit transforms (fit.c). Private to src/data.
 */
#ifndef CR_DATA_DATA_LOADER_INTERNAL_H
#define CR_DATA_DATA_LOADER_INTERNAL_H

#include "data/column_pipeline.h"
#include "data/data_loader.h"
#include "data/reader.h"
#include "data/sampler.h"
#include "data/section.h"
#include "data/workers.h"

struct cr_data_loader {
    struct cr_config *config;
    struct cr_arena *arena;
    struct cr_data_loader_opts want;
    struct cr_dataset set;
    struct cr_obj source;       /* the data set's node, read */
    struct cr_pos pos;
    bool open, loaded, prepared;
    struct cr_column column[CR_COLUMNS_MAX];    /* of the first scale */
    struct cr_column_pipeline *op[CR_COLUMNS_MAX];
    int n_sizes;
    struct cr_column *of_size[CR_SIZES_MAX];
    struct cr_sampler sampler;
    int64_t batch_size, batches;
    size_t scratch_bytes; /* working room of one thread */
    struct cr_reader *reader;
    bool scans;                 /* before the first sample: for the shelf */
    /* where the reader is */
    int64_t epoch, index;
    bool between;               /* the end of an epoch was told */
    /* orders of two neighbouring epochs: epoch e is in e % 2 */
    int64_t *orders[2], order_epoch[2], *order_scratch;
    int64_t *repeats[2];        /* with a sampler; else NULL */
    /* without workers */
    struct cr_batch batch;
    char *scratch;
    struct cr_diag *diag;
    int64_t failed;
    /* with them */
    struct cr_workers *workers;
    int n_workers, prefetch;
};

/* Limits the pool to the samples of a part of dataset.split (split.c), and
 * checks that the sections are consistent. False after reporting. */
bool cr_dataset_split_make(struct cr_data_loader *loader,
                           const struct cr_data_section *data);
/* Whether `split` of the section dataset gives that part of train. */
bool cr_dataset_split_gives(const struct cr_node *dataset, const char *part);
/* The column of labels that are mixed together with the samples; -1. */
int cr_data_loader_labels(const struct cr_data_loader *loader);
/* Stores the names of the classes in the config (class_stats.c). */
void cr_data_loader_name_classes(struct cr_config *config,
                                 const struct cr_dataset *set);
/* Reads a column with one number per sample, as stored, for all samples, as
 * `type`. False after reporting; `key` is the config key for the message. */
bool cr_data_loader_values(struct cr_data_loader *loader, const char *key,
                           const char *column, enum cr_type type, void *to);
/* The sampler of the section, after the order was made (weighted.c). */
struct cr_datapipe_section;
bool cr_data_loader_weigh(struct cr_data_loader *loader,
                          const struct cr_datapipe_section *section);
/* Loads data that stay in memory, the first time. False after reporting. */
bool cr_data_loader_load(struct cr_data_loader *loader, struct cr_diag *diag);

#endif

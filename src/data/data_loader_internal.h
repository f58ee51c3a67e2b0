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
    struct cr_obj source;       /* data set of the config, with its options */
    struct cr_pos pos;
    bool open, loaded, prepared;
    struct cr_column column[CR_COLUMNS_MAX];    /* in the first shape */
    struct cr_column_pipeline *op[CR_COLUMNS_MAX];
    int n_sizes;
    struct cr_column *of_size[CR_SIZES_MAX];
    struct cr_sampler sampler;
    int64_t batch_size, batches;
    size_t scratch_bytes; /* scratch memory of one thread */
    struct cr_reader *reader;
    bool local[CR_COLUMNS_MAX]; /* cr_data_loader_share */
    bool scans; /* the disk cache is built before the first sample */
    /* epoch and index of the next batch */
    int64_t epoch, index;
    bool between;               /* the end of an epoch was returned */
    /* sample orders of two consecutive epochs; epoch e uses index e % 2 */
    int64_t *orders[2], order_epoch[2], *order_scratch;
    int64_t *repeats[2];        /* with a weighted sampler; else NULL */
    /* without workers */
    struct cr_batch batch;
    char *scratch;
    struct cr_diag *diag;
    int64_t failed;
    /* with workers */
    struct cr_workers *workers;
    int n_workers, prefetch;
};

/* Limits the pool to the samples of one split of dataset.split (split.c), and
 * checks that the sections are consistent. False after reporting. */
bool cr_dataset_split_make(struct cr_data_loader *loader,
                           const struct cr_data_section *data);
/* Whether `split` of the section dataset creates that split from train. */
bool cr_dataset_split_gives(const struct cr_node *dataset, const char *part);
/* The column of labels that are mixed together with the samples; -1: none. */
int cr_data_loader_labels(const struct cr_data_loader *loader);
/* Stores the names of the classes in the config (class_stats.c). */
void cr_data_loader_name_classes(struct cr_config *config,
                                 const struct cr_dataset *set);
/* Reads a column with one number per sample, as stored, for all samples,
 * converted to `type`. False after reporting; `key` is the config key for the
 * message. */
bool cr_data_loader_values(struct cr_data_loader *loader, const char *key,
                           const char *column, enum cr_type type, void *to);
/* Sets up datapipe.sampler, after the order was made (weighted.c). */
struct cr_datapipe_section;
bool cr_data_loader_weigh(struct cr_data_loader *loader,
                          const struct cr_datapipe_section *section);
/* Loads data that stay in memory, on the first call. False after reporting. */
bool cr_data_loader_load(struct cr_data_loader *loader, struct cr_diag *diag);

#endif

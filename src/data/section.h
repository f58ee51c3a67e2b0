/* The sections `dataset` and `datapipe` as read. Private to src/data. */
#ifndef CR_DATA_SECTION_H
#define CR_DATA_SECTION_H

#include "conf/config.h"

struct cr_dataset_split {
    struct cr_quantity train, eval, test; /* CR_UNIT_NONE: not set */
    struct cr_quantity eval_from_train;
    const char *stratify, *group, *time;
    int64_t seed;
    int64_t folds, fold;    /* CR_INT_NONE: not set */
};

struct cr_data_section {
    struct cr_obj train, eval, test;
    struct cr_dataset_split split;
    int on_error;
};

enum cr_on_error { CR_ON_ERROR_STOP, CR_ON_ERROR_SKIP, CR_ON_ERROR_WARN };

struct cr_batching {
    int64_t batch_size;
    const struct cr_node *drop_remainder;
};

struct cr_shuffling {
    bool enabled;
    const struct cr_node *buffer_size;
};

enum cr_cache { CR_CACHE_NONE, CR_CACHE_MEMORY, CR_CACHE_DISK };

struct cr_weighted {
    const struct cr_node *weights; /* NULL: no weighted sampler */
    int64_t num_samples;
    bool replacement;
};

struct cr_sampling {
    struct cr_weighted WeightedRandomSampler;
};

struct cr_datapipe_section {
    struct cr_batching batch;
    struct cr_shuffling shuffle;
    struct cr_sampling sampler;
    const struct cr_node *workers;
    int64_t prefetch;
    int cache;
};

/* Reads the keys of datapipe that are not columns; without the section, the
 * defaults. False after reporting. */
bool cr_datapipe_section_read(struct cr_config *config,
                              struct cr_datapipe_section *to);
/* Whether the name is a key of datapipe and not a column. */
bool cr_datapipe_is_key(const char *name);

#endif

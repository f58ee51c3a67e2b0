/*
 * The features of a column of a table: for each index of the last axis the
 * field it comes from, and its kind. Transforms use them to find the features
 * that they apply to, and update them with the samples. For src/data, the
 * transforms, and what shows samples.
 *
 * In samples a category is a code, a missing value is NaN. All data sets of a
 * config share one table of strings and codes per category; code 0 is an
 * unknown string. The network gets indices of a vocabulary (data/vocab.h) named
 * COLUMN.FIELD, or COLUMN if that is its only feature: the strings of the
 * training samples in order, after an empty one for all others. Checkpoints
 * contain the vocabulary; the table of a config from a checkpoint has exactly
 * its strings.
 */
#ifndef CR_DATA_FEATURES_H
#define CR_DATA_FEATURES_H

#include "data/category_table.h"
#include "data/date.h"
#include "data/vocab.h"

enum cr_feature_kind {
    CR_FEATURE_NUMBER,
    CR_FEATURE_CATEGORY,    /* a code */
    CR_FEATURE_BIN,         /* an integer from 0 to bins - 1 */
    CR_FEATURE_FLAG,        /* 0 or 1 */
};

struct cr_category {
    const char *name;       /* of its vocabulary */
    struct cr_category_table words; /* by code; the first is "" */
    bool frozen;                    /* no strings can be added */
    const struct cr_vocab *vocab; /* NULL: cr_features_learn makes it */
    int32_t *index;               /* vocabulary index of each code */
    int32_t n_index;
    int32_t *code; /* code of each vocabulary index; unless frozen */
};

struct cr_feature {
    const char *name;       /* of the field, "sex=male", "age missing" */
    enum cr_feature_kind kind;
    enum cr_date_form form; /* of dates; 0: not a date */
    bool clock;             /* in seconds, else in days */
    struct cr_category *category;
    int64_t bins;
    bool lacks; /* missing in some training sample; set by
                   cr_features_learn */
};

struct cr_features {
    int n;
    struct cr_feature *v;
};

/* The features of a column, from the data or the checkpoint that contained the
 * config; NULL: unknown. */
const struct cr_features *cr_features_find(struct cr_config *config,
                                           const char *column);
/* Stores the features in the config, the first time. */
void cr_features_keep(struct cr_config *config, const char *column,
                      const struct cr_features *features);
/* The features as a list of strings for a checkpoint: "number age", "category
 * sex". */
struct cr_node *cr_features_list(struct cr_arena *arena, const char *column,
                                 const struct cr_features *features);

struct cr_category *cr_category_of(struct cr_config *config,
                                   const char *column, const char *field);
/* The code of a string, which is added unless frozen; -1: too many strings. */
int32_t cr_category_code(struct cr_category *category, const char *text,
                         size_t len);
/* The vocabulary index of a code; the vocabulary must exist. */
int64_t cr_category_index(const struct cr_category *category, double code);

/* The code of a vocabulary index. */
double cr_category_at(const struct cr_category *category, double index);

/* Makes the vocabularies of the categories and finds the features with missing
 * values, from the training samples, unless that is done or a checkpoint
 * contains them. False after reporting. */
bool cr_features_learn(struct cr_config *config, const char *column);

#endif

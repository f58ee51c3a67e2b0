/*
 * What stands where in the samples of a table's column: for each place along
 * the last axis the field it comes from, and whether it is a number or a
 * category. Ops use it to work on the features that they are for, and change
 * it as they change samples. Private to src/data and the transforms.
 *
 * In samples a category is the code of its word, a missing value is NaN. The
 * codes of a config are those of one list of words for each feature, which
 * all its data sets share; code 0 is a word that the list has not. What a
 * network sees are places in a vocabulary (data/vocab.h) called COLUMN.FIELD,
 * or COLUMN where that is its only feature: the words of the training
 * samples, in order, after an empty one, which stands for all others. The
 * checkpoint keeps it; the list of a config from a checkpoint has its words
 * and takes no others.
 */
#ifndef CR_DATA_FEATURES_H
#define CR_DATA_FEATURES_H

#include "data/category_table.h"
#include "data/date.h"
#include "data/vocab.h"

enum cr_feature_kind {
    CR_FEATURE_NUMBER,
    CR_FEATURE_CATEGORY,    /* a code */
    CR_FEATURE_BIN,         /* a whole number from 0, below bins */
    CR_FEATURE_FLAG,        /* 0 or 1 */
};

struct cr_category {
    const char *name;       /* of its vocabulary */
    struct cr_category_table words; /* by code; the first is "" */
    bool frozen;            /* takes no more words */
    const struct cr_vocab *vocab; /* NULL: cr_features_learn makes it */
    int32_t *index;         /* of a code: its place there, */
    int32_t n_index;
    int32_t *code;          /* and the other way round; unless frozen */
};

struct cr_feature {
    const char *name;       /* of the field, "sex=male", "age missing" */
    enum cr_feature_kind kind;
    enum cr_date_form form; /* of dates; 0: it is none */
    bool clock;             /* in seconds, else in days */
    struct cr_category *category;
    int64_t bins;
    bool lacks;             /* missing in some training sample; known after
                               cr_features_learn */
};

struct cr_features {
    int n;
    struct cr_feature *v;
};

/* Those of a column of the config: of its data, or of the checkpoint that it
 * comes from. NULL: none are known. */
const struct cr_features *cr_features_find(struct cr_config *config,
                                           const char *column);
/* Tells the config, the first time. */
void cr_features_keep(struct cr_config *config, const char *column,
                      const struct cr_features *features);
/* As a list of texts for a checkpoint: "number age", "category sex". */
struct cr_node *cr_features_list(struct cr_arena *arena, const char *column,
                                 const struct cr_features *features);

struct cr_category *cr_category_of(struct cr_config *config,
                                   const char *column, const char *field);
/* The code of a word; -1: there are too many. */
int32_t cr_category_code(struct cr_category *category, const char *text,
                         size_t len);
/* The place of a code in the vocabulary, which must be there. */
int64_t cr_category_index(const struct cr_category *category, double code);

/* And the other way round. */
double cr_category_at(const struct cr_category *category, double index);

/* Counts the training samples, unless that was done or a checkpoint tells:
 * the vocabularies of the categories, and which features lack values. False
 * after reporting. */
bool cr_features_learn(struct cr_config *config, const char *column);

#endif

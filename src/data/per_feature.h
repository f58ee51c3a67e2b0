/*
 * Transforms that process each feature of a sample separately. A feature is an
 * index of the last axis; the other axes hold more values of it. In a column of
 * a table a transform applies to the fields that it names, else to the features
 * of the kinds that it is for (data/features.h); in other columns to all. Other
 * features are copied.
 */
#ifndef CR_DATA_PER_FEATURE_H
#define CR_DATA_PER_FEATURE_H

#include "data/features.h"
#include "data/transform.h"

#define CR_NUMBERS (1u << CR_FEATURE_NUMBER)
#define CR_CATEGORIES (1u << CR_FEATURE_CATEGORY)
#define CR_BINS (1u << CR_FEATURE_BIN)

/* The state of such a transform begins with this struct. */
struct cr_per_feature {
    int64_t n;              /* features */
    bool *on;               /* per feature: the transform applies to it */
    int64_t count;          /* elements of a sample */
    double *x;              /* while fitting: the current sample */
    int64_t *seen;          /* and the number of values of each feature,
                               without missing ones, */
    double **value;         /* and the values, if cr_per_feature_add is used */
};

#define CR_FIELDS_OPT(T)                                            \
    CR_STRS_OPTIONAL(T, fields,                                     \
                     "Fields of a CSVDataset, or globs over them. " \
                     "Default: all that the transform applies to.")

/* Allocates p->self, of `size` bytes. The output has the shape of the input and
 * the type float64 if the input has it, else float32. False after reporting. */
bool cr_per_feature_plan(struct cr_transform_plan *p, const char *op,
                         const struct cr_strs *fields, unsigned kinds,
                         size_t size);
/* The name of a feature for messages. */
const char *cr_per_feature_name(const struct cr_transform_plan *p, int64_t k);

/* A sample converted to double, in `scratch` or in self->x. */
double *cr_per_feature_x(const struct cr_transform_plan *p, const void *x,
                         double *scratch);
/* Writes doubles, in the number of the input's elements, as the output. */
void cr_per_feature_put(struct cr_sample *s, const double *y);

/* Stores the values of a training sample; returns the values of a feature,
 * sorted, after the last sample; frees all values. */
void cr_per_feature_add(const struct cr_transform_plan *p, const void *x);
const double *cr_per_feature_sorted(const struct cr_transform_plan *p,
                                    int64_t k);
void cr_per_feature_drop(const struct cr_transform_plan *p);
/* Reports a feature without a value in any training sample. Returns false. */
bool cr_per_feature_none(const struct cr_transform_plan *p, int64_t k);
/* A quantile of n sorted values, by linear interpolation between neighbours. */
double cr_quantile(const double *sorted, int64_t n, double q);

#endif

/*
 * Ops that work on each feature of a sample by itself: places along the last
 * axis, to which the axes before it give more samples. Of a table's column
 * they take the fields that they are told, or else those of the kinds that
 * they are for (data/features.h); of other columns, all. The others pass.
 */
#ifndef CR_DATA_PER_FEATURE_H
#define CR_DATA_PER_FEATURE_H

#include "data/features.h"
#include "data/transform.h"

#define CR_NUMBERS (1u << CR_FEATURE_NUMBER)
#define CR_CATEGORIES (1u << CR_FEATURE_CATEGORY)
#define CR_BINS (1u << CR_FEATURE_BIN)

/* An op's self begins with it. */
struct cr_per_feature {
    int64_t n;              /* features */
    bool *on;               /* which of them are meant */
    int64_t count;          /* elements of a sample */
    double *x;              /* while fitting: the sample */
    int64_t *seen;          /* and values of each feature, without missing
                               ones, */
    double **value;         /* all of them where cr_per_feature_add was
                               called */
};

#define CR_FIELDS_OPT(T)                                            \
    CR_STRS_OPTIONAL(T, fields,                                     \
                     "Fields of a CSVDataset, or globs over them. " \
                     "Default: all that the transform applies to.")

/* Makes p->self, `size` bytes; what goes out is as what comes in, float64 if
 * that is, else float32. False after reporting. */
bool cr_per_feature_plan(struct cr_transform_plan *p, const char *op,
                         const struct cr_strs *fields, unsigned kinds,
                         size_t size);
/* The name of a feature for messages. */
const char *cr_per_feature_name(const struct cr_transform_plan *p, int64_t k);

/* A sample as doubles: in `room` or self->x. */
double *cr_per_feature_x(const struct cr_transform_plan *p, const void *x,
                         double *room);
/* Doubles, as many as come in, as what goes out. */
void cr_per_feature_put(struct cr_sample *s, const double *y);

/* Keeps the values of a training sample; those of a feature in order, once
 * all are there; and frees them. */
void cr_per_feature_add(const struct cr_transform_plan *p, const void *x);
const double *cr_per_feature_sorted(const struct cr_transform_plan *p,
                                    int64_t k);
void cr_per_feature_drop(const struct cr_transform_plan *p);
/* Reports a feature of which no training sample has a value. */
bool cr_per_feature_none(const struct cr_transform_plan *p, int64_t k);
/* Of n values in order, by linear interpolation between neighbours. */
double cr_quantile(const double *sorted, int64_t n, double q);

#endif

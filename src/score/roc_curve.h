/*
 * Receiver operating characteristic and precision-recall curves, exact over
 * all samples, which are kept in memory.
 *
 * Labels that are classes: the softmax of the outputs is ranked, or outputs
 * that are probabilities already, each class against the rest. Labels of as
 * many numbers as the output has: the outputs are ranked as they are, each
 * class by itself; for one number a sample, the class is 1.
 */
#ifndef CR_SCORE_ROC_CURVE_H
#define CR_SCORE_ROC_CURVE_H

#include "score/metric.h"

struct cr_roc {
    int64_t n, cap, classes;
    bool multilabel;            /* one label of 0 or 1 for each number */
    cr_real *score;             /* n x classes */
    int32_t *target;            /* n classes, or n x classes of 0 and 1 */
};

size_t cr_roc_size(const void *opts, int64_t classes);
/* A metric's `add`. */
void cr_roc_add(const void *opts, void *state, int64_t classes,
                const struct cr_metric_batch *batch);

/* The same, but one-hot labels are classes. */
void cr_roc_class_add(struct cr_roc *roc, int64_t classes,
                      const struct cr_metric_batch *batch);

/* The corners of a class's ROC curve, from (0, 0) to (1, 1): false positive
 * rate, true positive rate, and the threshold at or above which outputs are
 * positive; the first threshold is the largest output + 1. NULL if all samples
 * are positive or all negative. */
const double *cr_roc_curve(const struct cr_roc *roc, int64_t class,
                           struct cr_arena *mem, int64_t *points);
/* The area under it by the trapezoidal rule; NaN if all samples are positive
 * or all negative. */
double cr_roc_area(const struct cr_roc *roc, int64_t class);
/* The curve of precision over recall, from (0, 1): its area by steps,
 * sum of (R_k - R_k-1) P_k, and by trapezoids. NaN: the class has no sample. */
double cr_roc_average_precision(const struct cr_roc *roc, int64_t class);
double cr_roc_pr_area(const struct cr_roc *roc, int64_t class);

/* The threshold with the largest score, halfway between two outputs; of equal
 * scores the one with the largest threshold. If all outputs are positive it is
 * below the smallest output, so that rounding loses none. NaN: there are no
 * samples. */
struct cr_roc_counts {
    double tp, fp, fn, tn;
};
double cr_roc_threshold(const struct cr_roc *roc, int64_t class,
                        double (*score)(struct cr_roc_counts counts));

/* The unweighted mean over the classes for which a number is not NaN. */
double cr_roc_mean(const struct cr_roc *roc,
                   double (*of)(const struct cr_roc *, int64_t));
/* The number of class 1 of two classes; else that mean. */
double cr_roc_positive(const struct cr_roc *roc,
                       double (*of)(const struct cr_roc *, int64_t));
/* A metric's table: the number of each class. */
int64_t cr_roc_table(const struct cr_roc *roc, int64_t classes,
                     double (*of)(const struct cr_roc *, int64_t), double *to);

#endif

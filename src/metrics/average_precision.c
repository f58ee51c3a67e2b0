/*
 * average_precision: sum of (R_k - R_k-1) P_k over the distinct outputs,
 * largest first, as scikit-learn's average_precision_score. For two classes
 * the result is that of class 1; for more, the unweighted mean of each class
 * with samples against the rest. Equal outputs are one step.
 */
#include "score/roc_curve.h"

static int64_t average_precision_table(const void *opts, const void *state,
                                       int64_t classes, double *to)
{
    (void)opts;
    return cr_roc_table(state, classes, cr_roc_average_precision, to);
}

static double average_precision_value(const void *opts, const void *state,
                                      int64_t classes)
{
    (void)opts;
    (void)classes;
    return cr_roc_positive(state, cr_roc_average_precision);
}

const struct cr_metric cr_metric_average_precision = {
    .about = {
        .name = "average_precision",
        .summary = "Average precision: mean precision, weighted by the "
                   "increase in recall.",
        .detail = "The sum of (R_k - R_k-1) P_k, with recall R_k and precision "
                  "P_k of the k largest outputs. For two classes the result is "
                  "that of class 1; for more classes, the unweighted mean of "
                  "each class against the rest. If labels have one number (0 "
                  "or 1) per output, each output is ranked by itself. All "
                  "samples are ranked together, so the outputs of all samples "
                  "are kept.",
        .example = "metrics: [accuracy, average_precision]\n",
    },
    .maximize = true,
    .classifies = true,
    .compares = true,
    .size = cr_roc_size,
    .add = cr_roc_add,
    .value = average_precision_value,
    .table = average_precision_table,
};

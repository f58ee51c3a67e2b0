/*
 * average_precision: sum of (R_k - R_k-1) P_k over the distinct outputs,
 * largest first. As scikit-learn's average_precision_score: of two classes
 * that of class 1; of more, each class against the rest and the unweighted
 * mean over the classes that have samples. Equal outputs are one step.
 */
#include "train/ranking.h"

static int64_t average_precision_table(const void *opts, const void *state,
                                       int64_t classes, double *to)
{
    (void)opts;
    return cr_ranking_table(state, classes, cr_ranking_average_precision, to);
}

static double average_precision_value(const void *opts, const void *state,
                                      int64_t classes)
{
    (void)opts;
    (void)classes;
    return cr_ranking_positive(state, cr_ranking_average_precision);
}

const struct cr_metric cr_metric_average_precision = {
    .about = {
        .name = "average_precision",
        .summary = "Mean of the precisions, weighted by the gain in recall.",
        .detail = "sum of (R_k - R_k-1) P_k, with recall R_k and precision "
                  "P_k from the k-th largest output on. "
                  "Of two classes that of class 1; of more, each "
                  "class against the rest and the unweighted mean. Labels of "
                  "as many numbers (0 and 1) as outputs: each output by "
                  "itself. Exact: keeps the outputs of all samples.",
        .example = "metrics: [accuracy, average_precision]\n",
    },
    .maximize = true,
    .classifies = true,
    .compares = true,
    .size = cr_ranking_size,
    .add = cr_ranking_add,
    .value = average_precision_value,
    .table = average_precision_table,
};

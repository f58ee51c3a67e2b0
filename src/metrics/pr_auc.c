/*
 * pr_auc: area below the curve of precision over recall, by trapezoids.
 * As scikit-learn's auc(recall, precision): of two classes that of class 1; of
 * more, each class against the rest and the unweighted mean over the classes
 * that have samples. Equal outputs are one step of the curve.
 */
#include "train/ranking.h"

static int64_t pr_auc_table(const void *opts, const void *state,
                            int64_t classes, double *to)
{
    (void)opts;
    return cr_ranking_table(state, classes, cr_ranking_pr_area, to);
}

static double pr_auc_value(const void *opts, const void *state,
                           int64_t classes)
{
    (void)opts;
    (void)classes;
    return cr_ranking_positive(state, cr_ranking_pr_area);
}

const struct cr_metric cr_metric_pr_auc = {
    .about = {
        .name = "pr_auc",
        .summary = "Area below the curve of precision over recall.",
        .detail = "By trapezoids, from recall 0 and precision 1; "
                  "average_precision has its area by steps, which is less "
                  "optimistic. Of two classes that of class 1; of more, each "
                  "class against the rest and the unweighted mean. Labels of "
                  "as many numbers (0 and 1) as outputs: each output by "
                  "itself. Exact: keeps the outputs of all samples.",
        .example = "metrics: [accuracy, pr_auc]\n",
    },
    .maximize = true,
    .classifies = true,
    .compares = true,
    .size = cr_ranking_size,
    .add = cr_ranking_add,
    .value = pr_auc_value,
    .table = pr_auc_table,
};

/*
 * pr_auc: area under the precision-recall curve by trapezoids, as
 * scikit-learn's auc(recall, precision). For two classes the result is that of
 * class 1; for more, the unweighted mean of each class with samples against
 * the rest. Equal outputs are one step of the curve.
 */
#include "score/roc_curve.h"

static int64_t pr_auc_table(const void *opts, const void *state,
                            int64_t classes, double *to)
{
    (void)opts;
    return cr_roc_table(state, classes, cr_roc_pr_area, to);
}

static double pr_auc_value(const void *opts, const void *state,
                           int64_t classes)
{
    (void)opts;
    (void)classes;
    return cr_roc_positive(state, cr_roc_pr_area);
}

const struct cr_metric cr_metric_pr_auc = {
    .about = {
        .name = "pr_auc",
        .summary = "PR AUC: area under the precision-recall curve.",
        .detail = "Computed by trapezoids, starting from recall 0 and "
                  "precision 1; average_precision computes it by steps, which "
                  "is less optimistic. For two classes the result is that of "
                  "class 1; for more classes, the unweighted mean of each "
                  "class against the rest. If labels have one number (0 or 1) "
                  "per output, each output is ranked by itself. All samples "
                  "are ranked together, so the outputs of all samples are "
                  "kept.",
        .example = "metrics: [accuracy, pr_auc]\n",
    },
    .maximize = true,
    .classifies = true,
    .compares = true,
    .size = cr_roc_size,
    .add = cr_roc_add,
    .value = pr_auc_value,
    .table = pr_auc_table,
};

/*
 * auc: the area below the receiver operating characteristic (ranking.h): how
 * probable it is that an output of the class is larger than one of the rest.
 * The unweighted mean over the classes that stand among the labels and are
 * not the only one there; of two classes both have the same.
 *
 * MindSpore's ROC keeps the last batch only, and its auc is a function of the
 * curve; here all samples are ranked together.
 */
#include "train/ranking.h"

static int64_t auc_table(const void *opts, const void *state, int64_t classes,
                         double *to)
{
    (void)opts;
    return cr_ranking_table(state, classes, cr_ranking_area, to);
}

static double auc_value(const void *opts, const void *state, int64_t classes)
{
    (void)opts;
    (void)classes;
    return cr_ranking_mean(state, cr_ranking_area);
}

const struct cr_metric cr_metric_auc = {
    .about = {
        .name = "auc",
        .summary = "Area below the receiver operating characteristic.",
        .detail = "Each class against the rest by the softmax of the output, "
                  "and the unweighted mean; or, where labels have as many "
                  "numbers (0 and 1) as outputs, by the outputs themselves. "
                  "Exact: keeps the outputs of all samples.",
        .example = "metrics: [accuracy, auc]\n",
    },
    .maximize = true,
    .classifies = true,
    .compares = true,
    .size = cr_ranking_size,
    .add = cr_ranking_add,
    .value = auc_value,
    .table = auc_table,
};

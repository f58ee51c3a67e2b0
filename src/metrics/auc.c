/*
 * auc: the area under the receiver operating characteristic, which is the
 * probability that an output of the class exceeds an output of the rest. The
 * result is the unweighted mean over the classes that occur among the labels
 * together with others; two classes have the same value.
 *
 * MindSpore's ROC keeps the last batch only, and its auc is a function of the
 * curve; here all samples are ranked together.
 */
#include "score/roc_curve.h"

static int64_t auc_table(const void *opts, const void *state, int64_t classes,
                         double *to)
{
    (void)opts;
    return cr_roc_table(state, classes, cr_roc_area, to);
}

static double auc_value(const void *opts, const void *state, int64_t classes)
{
    (void)opts;
    (void)classes;
    return cr_roc_mean(state, cr_roc_area);
}

const struct cr_metric cr_metric_auc = {
    .about = {
        .name = "auc",
        .summary = "ROC AUC: area under the receiver operating characteristic.",
        .detail = "The unweighted mean of each class against the rest, ranked "
                  "by the softmax of the output; if labels have one number (0 "
                  "or 1) per output, each output is ranked by itself. All "
                  "samples are ranked together, so the outputs of all samples "
                  "are kept.",
        .example = "metrics: [accuracy, auc]\n",
    },
    .maximize = true,
    .classifies = true,
    .compares = true,
    .size = cr_roc_size,
    .add = cr_roc_add,
    .value = auc_value,
    .table = auc_table,
};

/* precision: correct / (predicted + e) of each class, e = DBL_MIN; the result
 * is the unweighted mean over the classes. With eval_type: multilabel counts
 * are taken over the classes of each sample, and the result is the mean over
 * the samples, as in MindSpore. */
#include "score/metric.h"

static const struct cr_opt precision_opts[] = {
    CR_METRIC_MULTILABEL(struct cr_metric_multilabel_opts),
    { 0 },
};

static double precision_marks(struct cr_metric_class c)
{
    return c.correct / (c.predicted + DBL_MIN);
}

static double precision_of(const void *opts, struct cr_metric_class c)
{
    (void)opts;
    return precision_marks(c);
}

const struct cr_metric cr_metric_precision = {
    .about = {
        .name = "precision",
        .aliases = CR_ALIASES("Precision"),
        .summary = "Precision: fraction of the predictions of a class that are "
                   "correct.",
        .detail = "The unweighted mean over the classes; `eval --per-class` "
                  "prints each class. With eval_type: multilabel, the mean "
                  "over the samples of the same formula applied to the labels "
                  "of one sample. Without it: " CR_METRIC_MULTI_HOT,
        .example = "metrics: [precision]\n",
        .opts = precision_opts,
        .size = sizeof(struct cr_metric_multilabel_opts),
    },
    .maximize = true,
    .classifies = true,
    .of = precision_of,
    .multilabel = precision_marks,
};

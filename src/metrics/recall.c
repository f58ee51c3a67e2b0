/* recall: correct / (actual + e) of each class, e = DBL_MIN; the result is the
 * unweighted mean over the classes. With eval_type: multilabel counts are taken
 * over the classes of each sample, and the result is the mean over the samples,
 * as in MindSpore. */
#include "score/metric.h"

static const struct cr_opt recall_opts[] = {
    CR_METRIC_MULTILABEL(struct cr_metric_multilabel_opts),
    { 0 },
};

static double recall_marks(struct cr_metric_class c)
{
    return c.correct / (c.actual + DBL_MIN);
}

static double recall_of(const void *opts, struct cr_metric_class c)
{
    (void)opts;
    return recall_marks(c);
}

const struct cr_metric cr_metric_recall = {
    .about = {
        .name = "recall",
        .aliases = CR_ALIASES("Recall"),
        .summary = "Recall: fraction of the samples of a class that are found.",
        .detail = "The unweighted mean over the classes; `eval --per-class` "
                  "prints each class. With eval_type: multilabel, the mean "
                  "over the samples of the same formula applied to the labels "
                  "of one sample. Without it: " CR_METRIC_MULTI_HOT,
        .example = "metrics: [recall]\n",
        .opts = recall_opts,
        .size = sizeof(struct cr_metric_multilabel_opts),
    },
    .maximize = true,
    .classifies = true,
    .of = recall_of,
    .multilabel = recall_marks,
};

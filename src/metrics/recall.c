/* recall: right / (actual + e) of each class, e = DBL_MIN;
 * as one number the unweighted mean over the classes. For marks (multilabel)
 * MindSpore counts over the classes of each sample instead, and takes the mean
 * over the samples. */
#include "train/metric.h"

static const struct cr_opt recall_opts[] = {
    CR_METRIC_MARKS(struct cr_metric_marks),
    { 0 },
};

static double recall_marks(struct cr_metric_class c)
{
    return c.right / (c.actual + DBL_MIN);
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
        .summary = "Part of a class that was found.",
        .detail = "The unweighted mean over the classes; of each class with "
                  "`eval --per-class`. With eval_type: multilabel the "
                  "mean over the samples of what the same formula gives for "
                  "the marks of one sample.",
        .example = "metrics: [recall]\n",
        .opts = recall_opts,
        .size = sizeof(struct cr_metric_marks),
    },
    .maximize = true,
    .classifies = true,
    .of = recall_of,
    .marks = recall_marks,
};

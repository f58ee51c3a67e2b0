/* precision: right / (predicted + e) of each class, e = DBL_MIN;
 * as one number the unweighted mean over the classes. For marks (multilabel)
 * MindSpore counts over the classes of each sample instead, and takes the mean
 * over the samples. */
#include "train/metric.h"

static const struct cr_opt precision_opts[] = {
    CR_METRIC_MARKS(struct cr_metric_marks),
    { 0 },
};

static double precision_marks(struct cr_metric_class c)
{
    return c.right / (c.predicted + DBL_MIN);
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
        .summary = "Part of what was taken for a class that belongs to it.",
        .detail = "The unweighted mean over the classes; of each class with "
                  "`eval --per-class`. With eval_type: multilabel the "
                  "mean over the samples of what the same formula gives for "
                  "the marks of one sample.",
        .example = "metrics: [precision]\n",
        .opts = precision_opts,
        .size = sizeof(struct cr_metric_marks),
    },
    .maximize = true,
    .classifies = true,
    .of = precision_of,
    .marks = precision_marks,
};

/* recall: right / (actual + e) of each class, e = DBL_MIN;
 * as one number the unweighted mean over the classes. */
#include "train/metric.h"

static double recall_of(struct cr_metric_class c)
{
    return c.right / (c.actual + DBL_MIN);
}

const struct cr_metric cr_metric_recall = {
    .about = {
        .name = "recall",
        .summary = "Part of a class that was found.",
        .detail = "The unweighted mean over the classes; of each class with "
                  "`eval --per-class`.",
        .example = "metrics: [recall]\n",
    },
    .maximize = true,
    .classifies = true,
    .of = recall_of,
};

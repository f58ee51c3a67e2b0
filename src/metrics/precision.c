/* precision: right / (predicted + e) of each class, e = DBL_MIN;
 * as one number the unweighted mean over the classes. */
#include "train/metric.h"

static double precision_of(struct cr_metric_class c)
{
    return c.right / (c.predicted + DBL_MIN);
}

const struct cr_metric cr_metric_precision = {
    .about = {
        .name = "precision",
        .summary = "Part of what was taken for a class that belongs to it.",
        .detail = "The unweighted mean over the classes; of each class with "
                  "`eval --per-class`.",
        .example = "metrics: [precision]\n",
    },
    .maximize = true,
    .classifies = true,
    .of = precision_of,
};

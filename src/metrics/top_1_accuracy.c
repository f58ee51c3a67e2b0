/* top_1_accuracy: how often the label has the largest output; equal outputs
 * count in order of class. */
#include "train/metric.h"

const struct cr_metric cr_metric_top_1_accuracy = {
    .about = {
        .name = "top_1_accuracy",
        .aliases = CR_ALIASES("Top1CategoricalAccuracy"),
        .summary = "Part of the samples whose class has the largest output.",
        .example = "metrics: [top_1_accuracy]\n",
    },
    .maximize = true,
    .classifies = true,
    .top = 1,
};

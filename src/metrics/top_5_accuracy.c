/* top_5_accuracy: how often the label is among the five largest outputs;
 * equal outputs count in order of class. */
#include "train/metric.h"

const struct cr_metric cr_metric_top_5_accuracy = {
    .about = {
        .name = "top_5_accuracy",
        .aliases = CR_ALIASES("Top5CategoricalAccuracy"),
        .summary = "Part of the samples whose class is among the five "
                   "largest outputs.",
        .example = "metrics: [top_5_accuracy]\n",
    },
    .maximize = true,
    .classifies = true,
    .top = 5,
};

/* top_5_accuracy: the fraction of labels among the five largest outputs; of
 * equal outputs the lower class comes first. */
#include "score/metric.h"

const struct cr_metric cr_metric_top_5_accuracy = {
    .about = {
        .name = "top_5_accuracy",
        .aliases = CR_ALIASES("Top5CategoricalAccuracy"),
        .summary = "Top-5 accuracy: fraction of the samples whose class is "
                   "among the five largest outputs.",
        .example = "metrics: [top_5_accuracy]\n",
    },
    .maximize = true,
    .classifies = true,
    .exclusive = true,
    .top = 5,
};

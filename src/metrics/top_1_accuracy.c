/* top_1_accuracy: the fraction of labels with the largest output; of equal
 * outputs the lower class comes first. */
#include "score/metric.h"

const struct cr_metric cr_metric_top_1_accuracy = {
    .about = {
        .name = "top_1_accuracy",
        .aliases = CR_ALIASES("Top1CategoricalAccuracy"),
        .summary = "Top-1 accuracy: fraction of the samples whose class has "
                   "the largest output.",
        .example = "metrics: [top_1_accuracy]\n",
    },
    .maximize = true,
    .classifies = true,
    .exclusive = true,
    .top = 1,
};

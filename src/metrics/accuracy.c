/* accuracy: right answers among all samples (and positions, for outputs of
 * shape (n, classes, ...)). The answer is the first of the largest outputs. */
#include "train/metric.h"

const struct cr_metric cr_metric_accuracy = {
    .about = {
        .name = "accuracy",
        .summary = "Part of the samples whose class is found.",
        .detail = "Labels outside the classes (ignore_index) do not count.",
        .example = "metrics: [accuracy]\n",
    },
    .maximize = true,
    .classifies = true,
    .top = 1,
};

/* accuracy: right answers among all samples (and positions, for outputs of
 * shape (n, classes, ...)). The answer is the first of the largest outputs. */
#include "train/metric.h"

static const struct cr_opt accuracy_opts[] = {
    CR_METRIC_MARKS(struct cr_metric_marks),
    { 0 },
};

/* All marks of a position must be right. */
static double accuracy_marks(struct cr_metric_class c)
{
    return c.right == c.predicted && c.right == c.actual;
}

const struct cr_metric cr_metric_accuracy = {
    .about = {
        .name = "accuracy",
        .aliases = CR_ALIASES("acc", "Accuracy"),
        .summary = "Part of the samples whose class is found.",
        .detail = "Labels outside the classes (ignore_index) do not count. "
                  "With eval_type: multilabel a sample is right when all its "
                  "marks are.",
        .example = "metrics: [accuracy]\n",
        .opts = accuracy_opts,
        .size = sizeof(struct cr_metric_marks),
    },
    .maximize = true,
    .classifies = true,
    .top = 1,
    .marks = accuracy_marks,
};

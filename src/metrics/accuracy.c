/* accuracy: correct / total over all samples, and all positions of outputs
 * (n, classes, ...). The prediction is the first of the largest outputs. */
#include "score/metric.h"

static const struct cr_opt accuracy_opts[] = {
    CR_METRIC_MULTILABEL(struct cr_metric_multilabel_opts),
    { 0 },
};

/* All labels of a position must be correct. */
static double accuracy_marks(struct cr_metric_class c)
{
    return c.correct == c.predicted && c.correct == c.actual;
}

const struct cr_metric cr_metric_accuracy = {
    .about = {
        .name = "accuracy",
        .aliases = CR_ALIASES("acc", "Accuracy"),
        .summary = "Accuracy: fraction of correct predictions.",
        .detail = "Labels outside the classes (ignore_index) are ignored. With "
                  "eval_type: multilabel, a sample is correct if all its "
                  "labels are.",
        .example = "metrics: [accuracy]\n",
        .opts = accuracy_opts,
        .size = sizeof(struct cr_metric_multilabel_opts),
    },
    .maximize = true,
    .classifies = true,
    .exclusive = true,
    .top = 1,
    .multilabel = accuracy_marks,
};

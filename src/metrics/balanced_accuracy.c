/*
 * balanced_accuracy: the mean of correct / actual over the classes that have
 * samples, as scikit-learn's balanced_accuracy_score.
 */
#include "score/metric.h"

struct balanced_accuracy {
    double threshold;
};

static const struct cr_opt balanced_accuracy_opts[] = {
    CR_METRIC_THRESHOLD(struct balanced_accuracy),
    { 0 },
};

static void balanced_accuracy_add(const void *opts, void *state,
                                  int64_t classes,
                                  const struct cr_metric_batch *batch)
{
    const struct balanced_accuracy *o = opts;

    cr_metric_votes_add(o->threshold, state, classes, batch);
}

static const char *balanced_accuracy_vain(const void *opts, bool classified)
{
    const struct balanced_accuracy *o = opts;

    return cr_metric_threshold_no_effect(o->threshold, classified);
}

static double balanced_accuracy_value(const void *opts, const void *state,
                                      int64_t classes)
{
    double sum = 0, n = 0;

    (void)opts;
    for (int64_t c = 0; c < classes; c++) {
        struct cr_metric_class of = cr_metric_class(state, classes, c);

        sum += of.actual > 0 ? of.correct / of.actual : 0;
        n += of.actual > 0;
    }
    return sum / n;
}

const struct cr_metric cr_metric_balanced_accuracy = {
    .about = {
        .name = "balanced_accuracy",
        .summary = "Balanced accuracy: unweighted mean of the recalls of all "
                   "classes.",
        .detail = "It equals accuracy if every class has the same number of "
                  "samples. Classes without samples are ignored.",
        .example = "metrics: [accuracy, balanced_accuracy]\n",
        .opts = balanced_accuracy_opts,
        .size = sizeof(struct balanced_accuracy),
    },
    .maximize = true,
    .classifies = true,
    .exclusive = true,
    .compares = true,
    .no_effect = balanced_accuracy_vain,
    .classes = cr_metric_votes_classes,
    .size = cr_metric_confusion_size,
    .add = balanced_accuracy_add,
    .value = balanced_accuracy_value,
};

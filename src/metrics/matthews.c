/*
 * matthews: the correlation of labels and predictions,
 *
 *   (c s - sum t_k p_k) / sqrt((s^2 - sum p_k^2) (s^2 - sum t_k^2))
 *
 * with s samples, c of them correct, t_k labels and p_k predictions of class k,
 * as scikit-learn's matthews_corrcoef; 0 if the root is 0.
 */
#include <math.h>

#include "score/metric.h"

struct matthews {
    double threshold;
};

static const struct cr_opt matthews_opts[] = {
    CR_METRIC_THRESHOLD(struct matthews),
    { 0 },
};

static void matthews_add(const void *opts, void *state, int64_t classes,
                         const struct cr_metric_batch *batch)
{
    const struct matthews *o = opts;

    cr_metric_votes_add(o->threshold, state, classes, batch);
}

static const char *matthews_vain(const void *opts, bool classified)
{
    const struct matthews *o = opts;

    return cr_metric_threshold_no_effect(o->threshold, classified);
}

static double matthews_value(const void *opts, const void *state,
                             int64_t classes)
{
    double s = 0, c = 0, tp = 0, pp = 0, tt = 0, root;

    (void)opts;
    for (int64_t k = 0; k < classes; k++) {
        struct cr_metric_class of = cr_metric_class(state, classes, k);

        s += of.actual;
        c += of.correct;
        tp += of.actual * of.predicted;
        pp += of.predicted * of.predicted;
        tt += of.actual * of.actual;
    }
    if (s == 0)
        return (double)NAN;
    root = sqrt(s * s - pp) * sqrt(s * s - tt);
    return root > 0 ? (c * s - tp) / root : 0;
}

const struct cr_metric cr_metric_matthews = {
    .about = {
        .name = "matthews",
        .aliases = CR_ALIASES("mcc"),
        .summary = "Matthews correlation coefficient.",
        .detail = "Correlation of labels and predictions, for any number of "
                  "classes: 1 is perfect, 0 is no better than chance. It is 0 "
                  "if labels or predictions contain only one class.",
        .example = "metrics: [accuracy, matthews]\n",
        .opts = matthews_opts,
        .size = sizeof(struct matthews),
    },
    .maximize = true,
    .classifies = true,
    .exclusive = true,
    .compares = true,
    .no_effect = matthews_vain,
    .classes = cr_metric_votes_classes,
    .size = cr_metric_confusion_size,
    .add = matthews_add,
    .value = matthews_value,
};

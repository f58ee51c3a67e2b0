/* F1: 2 correct / (actual + predicted + e) of each class, e = DBL_MIN; the
 * result is the unweighted mean over the classes. */
#include "score/metric.h"

static double f1_of(const void *opts, struct cr_metric_class c)
{
    (void)opts;
    return 2 * c.correct / (c.actual + c.predicted + DBL_MIN);
}

const struct cr_metric cr_metric_f1 = {
    .about = {
        .name = "F1",
        .summary = "F1 score: harmonic mean of precision and recall.",
        .detail = "The unweighted mean over the classes; `eval --per-class` "
                  "prints each class. " CR_METRIC_MULTI_HOT,
        .example = "metrics: [F1]\n",
    },
    .maximize = true,
    .classifies = true,
    .of = f1_of,
};

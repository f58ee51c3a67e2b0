/* Fbeta: (1 + b^2) correct / (b^2 actual + predicted + e) of each class, e =
 * DBL_MIN; the result is the unweighted mean over the classes. */
#include "base/str.h"
#include "score/metric.h"

#include <stdlib.h>

struct fbeta {
    double beta;
};

static const struct cr_opt fbeta_opts[] = {
    CR_REAL(struct fbeta, beta, 0, 1e100,
            "Weight of recall relative to precision.",
            .min_exclusive = true),
    { 0 },
};

static double fbeta_of(const void *opts, struct cr_metric_class c)
{
    const struct fbeta *o = opts;
    double b = o->beta * o->beta;

    return (1 + b) * c.correct / (b * c.actual + c.predicted + DBL_MIN);
}

static const char *fbeta_called(const void *opts, struct cr_arena *arena)
{
    const struct fbeta *o = opts;

    return cr_strf(arena, "F%g", o->beta);
}

static bool fbeta_calls(const char *name, bool *maximize)
{
    char *end;

    *maximize = true;
    return name[0] == 'F' && name[1] >= '0' && name[1] <= '9' &&
           strtod(name + 1, &end) > 0 && *end == '\0';
}

const struct cr_metric cr_metric_fbeta = {
    .about = {
        .name = "Fbeta",
        .summary = "F-beta score: weighted harmonic mean of precision and "
                   "recall.",
        .detail = "The unweighted mean over the classes. The name of the "
                  "result contains beta, as in F0.5. " CR_METRIC_MULTI_HOT,
        .example = "metrics: [{Fbeta: {beta: 0.5}}]\n",
        .opts = fbeta_opts,
        .size = sizeof(struct fbeta),
    },
    .maximize = true,
    .classifies = true,
    .of = fbeta_of,
    .result_name = fbeta_called,
    .names_result = fbeta_calls,
};

/* Standardize: y = (x - mean_k) / s_k for each feature k.
 *
 * A feature is an index of the last axis; the other axes hold more values of
 * it. mean_k and the standard deviation s_k over all m values
 *   s_k^2 = 1/m sum (x - mean_k)^2
 * are computed over the training samples in their stored order, in double and
 * in one pass without cancellation (Welford 1962). Missing values are ignored
 * and stay missing. A constant feature has s_k = 1. */
#include "data/per_feature.h"

#include <math.h>

struct standardize {
    struct cr_strs fields;
};

static const struct cr_opt standardize_opts[] = {
    CR_FIELDS_OPT(struct standardize),
    { 0 },
};

/* fitted->value: the means of all features, then their sums of squares, which
 * become standard deviations when fitting ends. */

static bool standardize_plan(struct cr_transform_plan *p)
{
    const struct standardize *o = p->opts;
    const struct cr_per_feature *self;

    if (!cr_per_feature_plan(p, "Standardize", &o->fields, CR_NUMBERS,
                             sizeof *self))
        return false;
    self = p->self;
    p->out.type = CR_F32;
    p->fits = 2 * self->n;
    return true;
}

static void standardize_fit(const struct cr_transform_plan *p, const void *x)
{
    const struct cr_per_feature *self = p->self;
    const double *v = cr_per_feature_x(p, x, NULL);
    double *mean = p->fitted->value, *square = mean + self->n, d;
    int64_t i, k;

    for (i = 0; i < self->count; i++) {
        k = i % self->n;
        if (!self->on[k] || isnan(v[i]))
            continue;
        d = v[i] - mean[k];
        mean[k] += d / (double)++self->seen[k];
        square[k] += d * (v[i] - mean[k]);
    }
}

static bool standardize_end(const struct cr_transform_plan *p)
{
    const struct cr_per_feature *self = p->self;
    double *s = p->fitted->value + self->n;

    for (int64_t k = 0; k < self->n; k++)
        s[k] = s[k] > 0 ? sqrt(s[k] / (double)self->seen[k]) : 1;
    return true;
}

static bool standardize_apply(struct cr_sample *s)
{
    const struct cr_transform_plan *p = s->plan;
    const struct cr_per_feature *self = p->self;
    const double *mean = p->fitted->value, *deviation = mean + self->n;
    double *x = cr_per_feature_x(p, s->x, s->scratch);
    float *y = s->y;
    int64_t i, k;

    for (i = 0; i < self->count; i++) {
        k = i % self->n;
        y[i] = (float)(self->on[k] ? (x[i] - mean[k]) / deviation[k] : x[i]);
    }
    return true;
}

const struct cr_transform cr_transform_standardize = {
    .about = {
        .name = "Standardize",
        .summary = "(x - mean) / standard deviation of each feature.",
        .detail = "Mean and (population) standard deviation of each index of "
                  "the last axis are computed from the training data, after "
                  "`split` and the transforms before it. Checkpoints contain "
                  "them; evaluation and prediction use the same. Categories "
                  "and the columns that FillMissing adds pass unchanged.",
        .example = "datapipe: {x: [Standardize]}\n",
        .opts = standardize_opts,
        .size = sizeof(struct standardize),
    },
    .plan = standardize_plan,
    .apply = standardize_apply,
    .fit = standardize_fit,
    .fit_end = standardize_end,
};

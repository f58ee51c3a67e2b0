/* Clip: y = min(max(x, low), high).
 *
 * The bounds are given, or are quantiles of each feature over the training
 * samples. Missing values stay missing. */
#include "data/per_feature.h"

#include <math.h>

struct clip {
    double min, max;
    struct cr_reals quantiles;
    struct cr_strs fields;
};

static const struct cr_opt clip_opts[] = {
    CR_REAL_OPTIONAL(struct clip, min, -INFINITY, INFINITY, "Lower bound."),
    CR_REAL_OPTIONAL(struct clip, max, -INFINITY, INFINITY, "Upper bound."),
    CR_REALS_OPTIONAL(struct clip, quantiles, 0, 1,
                      "Bounds of each feature as quantiles of its training "
                      "values, such as [0.01, 0.99], in place of min and "
                      "max."),
    CR_FIELDS_OPT(struct clip),
    { 0 },
};

/* fitted->value: the lower bounds of all features, then the upper bounds. */

static bool clip_plan(struct cr_transform_plan *p)
{
    const struct clip *o = p->opts;
    const struct cr_per_feature *self;
    bool bounds = !isnan(o->min) || !isnan(o->max);

    if (bounds == (o->quantiles.n > 0))
        return cr_error(p->diag, p->pos, CR_E_CONFLICT,
                        "Clip: found %s, expected min or max, or quantiles",
                        bounds ? "both" : "neither");
    if (o->min > o->max)
        return cr_error(p->diag, p->pos, CR_E_OUT_OF_RANGE,
                        "Clip: found min %g and max %g, expected min below "
                        "max", o->min, o->max);
    if (!bounds && (o->quantiles.n != 2 ||
                    !(o->quantiles.v[0] < o->quantiles.v[1])))
        return cr_error(p->diag, p->pos, CR_E_OUT_OF_RANGE,
                        "Clip: quantiles: expected two fractions, the lower "
                        "one first");
    if (!cr_per_feature_plan(p, "Clip", &o->fields, CR_NUMBERS, sizeof *self))
        return false;
    self = p->self;
    p->fits = bounds ? 0 : 2 * self->n;
    return true;
}

static bool clip_end(const struct cr_transform_plan *p)
{
    const struct cr_per_feature *self = p->self;
    const struct clip *o = p->opts;
    double *low = p->fitted->value, *high = low + self->n;
    bool ok = p->fitted->seen > 0;

    for (int64_t k = 0; k < self->n && ok; k++) {
        const double *v;

        if (!self->on[k])
            continue;
        ok = self->seen[k] > 0 || cr_per_feature_none(p, k);
        if (!ok)
            break;
        v = cr_per_feature_sorted(p, k);
        low[k] = cr_quantile(v, self->seen[k], o->quantiles.v[0]);
        high[k] = cr_quantile(v, self->seen[k], o->quantiles.v[1]);
    }
    cr_per_feature_drop(p);
    return ok;
}

static bool clip_apply(struct cr_sample *s)
{
    const struct cr_per_feature *self = s->plan->self;
    const struct clip *o = s->plan->opts;
    const double *fitted = o->quantiles.n > 0 ? s->plan->fitted->value : NULL;
    double *x = cr_per_feature_x(s->plan, s->x, s->scratch);
    int64_t i, k;

    for (i = 0; i < self->count; i++) {
        double low, high;

        k = i % self->n;
        if (!self->on[k])
            continue;
        low = fitted ? fitted[k] : o->min;
        high = fitted ? fitted[self->n + k] : o->max;
        x[i] = x[i] < low ? low : x[i] > high ? high : x[i];
    }
    cr_per_feature_put(s, x);
    return true;
}

const struct cr_transform cr_transform_clip = {
    .about = {
        .name = "Clip",
        .summary = "Limits values to a range.",
        .detail = "Quantiles are computed from the training data, for each "
                  "index of the last axis, by linear interpolation; "
                  "checkpoints contain them.",
        .example = "datapipe: {x: [{Clip: {quantiles: [0.01, 0.99]}}, "
                   "Standardize]}\n",
        .opts = clip_opts,
        .size = sizeof(struct clip),
    },
    .plan = clip_plan,
    .apply = clip_apply,
    .fit = cr_per_feature_add,
    .fit_end = clip_end,
};

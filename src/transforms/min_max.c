/* MinMax: y = low + (x - min_k) (high - low) / (max_k - min_k) for each
 * feature k.
 *
 * min_k and max_k are computed over the training samples; missing values are
 * ignored and stay missing. A constant feature becomes low. */
#include "data/per_feature.h"

#include <math.h>

struct min_max {
    double low, high;
    struct cr_strs fields;
};

static const struct cr_opt min_max_opts[] = {
    CR_REAL_DEFAULT(struct min_max, low, 0, -1e9, 1e9,
                    "Result for the smallest training value."),
    CR_REAL_DEFAULT(struct min_max, high, 1, -1e9, 1e9,
                    "Result for the largest training value."),
    CR_FIELDS_OPT(struct min_max),
    { 0 },
};

/* fitted->value: the minima of all features, then the maxima. */

static bool min_max_plan(struct cr_transform_plan *p)
{
    const struct min_max *o = p->opts;
    const struct cr_per_feature *self;

    if (!(o->low < o->high))
        return cr_error(p->diag, p->pos, CR_E_OUT_OF_RANGE,
                        "MinMax: found low %g and high %g, expected low "
                        "below high", o->low, o->high);
    if (!cr_per_feature_plan(p, "MinMax", &o->fields, CR_NUMBERS,
                             sizeof *self))
        return false;
    self = p->self;
    p->fits = 2 * self->n;
    return true;
}

static void min_max_fit(const struct cr_transform_plan *p, const void *x)
{
    const struct cr_per_feature *self = p->self;
    const double *v = cr_per_feature_x(p, x, NULL);
    double *min = p->fitted->value, *max = min + self->n;
    int64_t i, k;

    for (i = 0; i < self->count; i++) {
        k = i % self->n;
        if (!self->on[k] || isnan(v[i]))
            continue;
        if (self->seen[k]++ == 0)
            min[k] = max[k] = v[i];
        min[k] = v[i] < min[k] ? v[i] : min[k];
        max[k] = v[i] > max[k] ? v[i] : max[k];
    }
}

static bool min_max_end(const struct cr_transform_plan *p)
{
    (void)p;
    return true;
}

static bool min_max_apply(struct cr_sample *s)
{
    const struct min_max *o = s->plan->opts;
    const struct cr_per_feature *self = s->plan->self;
    const double *min = s->plan->fitted->value, *max = min + self->n;
    double *x = cr_per_feature_x(s->plan, s->x, s->scratch);
    int64_t i, k;

    for (i = 0; i < self->count; i++) {
        k = i % self->n;
        if (self->on[k])
            x[i] = o->low + (x[i] - min[k]) * (o->high - o->low) /
                                (max[k] > min[k] ? max[k] - min[k] : 1);
    }
    cr_per_feature_put(s, x);
    return true;
}

const struct cr_transform cr_transform_min_max = {
    .about = {
        .name = "MinMax",
        .summary = "Min-max scaling of each feature.",
        .detail = "Minimum and maximum of each index of the last axis are "
                  "computed from the training data; values of other data may "
                  "be outside of low and high.",
        .example = "datapipe: {x: [{MinMax: {low: -1, high: 1}}]}\n",
        .opts = min_max_opts,
        .size = sizeof(struct min_max),
    },
    .plan = min_max_plan,
    .apply = min_max_apply,
    .fit = min_max_fit,
    .fit_end = min_max_end,
};

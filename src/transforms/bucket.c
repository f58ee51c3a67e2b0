/* Bucket: y = number of edges that are <= x.
 *
 * The edges are given, or are the quantiles i / bins, 0 < i < bins, of the
 * training values of each feature, without duplicates and without the smallest
 * value itself. */
#include "data/per_feature.h"

#include <math.h>
#include <string.h>

struct bucket {
    int64_t bins;
    struct cr_reals edges;
    struct cr_strs fields;
};

static const struct cr_opt bucket_opts[] = {
    CR_INT_OPTIONAL(struct bucket, bins, 2, 1000,
                    "Number of bins with equal numbers of training values."),
    CR_REALS_OPTIONAL(struct bucket, edges, -INFINITY, INFINITY,
                      "Lower edges of all bins but the first, in ascending "
                      "order, in place of bins."),
    CR_FIELDS_OPT(struct bucket),
    { 0 },
};

/* fitted->value: for each feature the number n of its edges, then n edges, then
 * bins - 1 - n zeros. */

static bool bucket_check(struct cr_transform_plan *p, const struct bucket *o)
{
    int i;

    if ((o->bins == CR_INT_NONE) == (o->edges.n == 0))
        return cr_error(p->diag, p->pos, CR_E_CONFLICT,
                        "Bucket: found %s, expected bins or edges",
                        o->edges.n > 0 ? "both" : "neither");
    for (i = 1; i < o->edges.n; i++)
        if (!(o->edges.v[i - 1] < o->edges.v[i]))
            return cr_error(p->diag, p->pos, CR_E_OUT_OF_RANGE,
                            "Bucket: edges: found %g after %g, expected "
                            "ascending numbers",
                            o->edges.v[i], o->edges.v[i - 1]);
    return true;
}

static bool bucket_plan(struct cr_transform_plan *p)
{
    const struct bucket *o = p->opts;
    const struct cr_per_feature *self;
    struct cr_features *out;

    if (!bucket_check(p, o) ||
        !cr_per_feature_plan(p, "Bucket", &o->fields, CR_NUMBERS,
                             sizeof *self))
        return false;
    self = p->self;
    p->fits = o->edges.n > 0 ? 0 : self->n * o->bins;
    if (!p->features)
        return true;
    out = CR_NEW(p->arena, struct cr_features);
    out->n = p->features->n;
    out->v = CR_NEWS(p->arena, struct cr_feature, out->n);
    memcpy(out->v, p->features->v, (size_t)out->n * sizeof *out->v);
    for (int k = 0; k < out->n; k++)
        if (self->on[k]) {
            out->v[k].kind = CR_FEATURE_BIN;
            out->v[k].bins = o->edges.n > 0 ? o->edges.n + 1 : o->bins;
        }
    p->features = out;
    return true;
}

static bool bucket_end(const struct cr_transform_plan *p)
{
    const struct cr_per_feature *self = p->self;
    const struct bucket *o = p->opts;
    bool ok = p->fitted->seen > 0;

    for (int64_t k = 0; k < self->n && ok; k++) {
        double *edge = p->fitted->value + k * o->bins + 1, before;
        int64_t i, n = 0;
        const double *v;

        if (!self->on[k])
            continue;
        ok = self->seen[k] > 0 || cr_per_feature_none(p, k);
        if (!ok)
            break;
        v = cr_per_feature_sorted(p, k);
        before = v[0];
        for (i = 1; i < o->bins; i++) {
            double q = cr_quantile(v, self->seen[k],
                                   (double)i / (double)o->bins);

            if (q - before > 1e-8)
                before = edge[n++] = q;
        }
        if (n > 0 && !(v[self->seen[k] - 1] - before > 1e-8))
            edge[--n] = 0;
        edge[-1] = (double)n;
    }
    cr_per_feature_drop(p);
    return ok;
}

static bool bucket_apply(struct cr_sample *s)
{
    const struct cr_per_feature *self = s->plan->self;
    const struct bucket *o = s->plan->opts;
    double *x = cr_per_feature_x(s->plan, s->x, s->scratch);

    for (int64_t i = 0; i < self->count; i++) {
        const double *edge = o->edges.v;
        int64_t n = o->edges.n, k = i % self->n, bin;

        if (!self->on[k] || isnan(x[i]))
            continue;
        if (n == 0) {
            edge = s->plan->fitted->value + k * o->bins + 1;
            n = edge[-1] > 0 && edge[-1] < (double)o->bins ? (int64_t)edge[-1]
                                                           : 0;
        }
        for (bin = 0; bin < n && edge[bin] <= x[i]; bin++)
            ;
        x[i] = (double)bin;
    }
    cr_per_feature_put(s, x);
    return true;
}

const struct cr_transform cr_transform_bucket = {
    .about = {
        .name = "Bucket",
        .summary = "Discretisation: the index of the bin of a value.",
        .detail = "A bin includes its lower edge and excludes the edge of the "
                  "next one. With bins the edges are quantiles of the training "
                  "data, for each index of the last axis; equal edges are "
                  "merged, which leaves fewer bins. OneHot after it makes a "
                  "column of each bin.",
        .example = "datapipe: {x: [{Bucket: {bins: 4, fields: [age]}}, "
                   "OneHot]}\n",
        .opts = bucket_opts,
        .size = sizeof(struct bucket),
    },
    .plan = bucket_plan,
    .apply = bucket_apply,
    .fit = cr_per_feature_add,
    .fit_end = bucket_end,
};

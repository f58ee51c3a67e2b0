/* Standardize: y = (x - mean_k) / s_k for each feature k.
 *
 * A feature is a place along the last axis; the axes before it count as more
 * samples of it. mean_k and s_k, the deviation over all m values
 *   s_k^2 = 1/m sum (x - mean_k)^2
 * come from the training samples, one by one in their stored order, in double
 * (Welford 1962: no cancellation, no second pass). A feature that is always
 * the same has s_k = 1. */
#include "data/transform.h"

#include <math.h>

/* fitted->value: features means, then features sums of squares, at the end
 * deviations. */

static bool standardize_plan(struct cr_tplan *p)
{
    if (cr_count(&p->in) == 0)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "Standardize takes samples with numbers in them, not "
                        "%s", cr_show(p->arena, &p->in));
    p->out = p->in;
    p->out.type = CR_F32;
    p->fits = 2 * (p->in.rank > 0 ? p->in.dim[p->in.rank - 1] : 1);
    p->scratch = (size_t)cr_count(&p->in) * sizeof(double);
    return true;
}

static void standardize_fit(const struct cr_tplan *p, const void *x)
{
    int64_t features = p->fits / 2, i, n = cr_count(&p->in);
    int64_t rows = n / features;
    double *mean = p->fitted->value, *square = mean + features;

    for (i = 0; i < n; i++) {
        size_t size = cr_type_size(p->in.type);
        double v, d;

        cr_convert(p->in.type, (const char *)x + (size_t)i * size, CR_F64,
                   &v, 1);
        d = v - mean[i % features];
        mean[i % features] +=
            d / (double)((p->fitted->seen - 1) * rows + i / features + 1);
        square[i % features] += d * (v - mean[i % features]);
    }
}

static void standardize_end(const struct cr_tplan *p)
{
    int64_t features = p->fits / 2, k;
    double *s = p->fitted->value + features;
    double m = (double)(p->fitted->seen * (cr_count(&p->in) / features));

    for (k = 0; k < features; k++)
        s[k] = s[k] > 0 ? sqrt(s[k] / m) : 1;
}

static bool standardize_apply(struct cr_sample *s)
{
    const struct cr_tplan *p = s->plan;
    int64_t features = p->fits / 2, i, n = cr_count(&p->in);
    const double *mean = p->fitted->value, *deviation = mean + features;
    double *x = s->scratch;
    float *y = s->y;

    cr_convert(p->in.type, s->x, CR_F64, x, n);
    for (i = 0; i < n; i++)
        y[i] = (float)((x[i] - mean[i % features]) / deviation[i % features]);
    return true;
}

const struct cr_transform cr_transform_standardize = {
    .about = {
        .name = "Standardize",
        .summary = "Each feature less its mean, by its deviation.",
        .detail = "Mean and deviation (of the population) of each place "
                  "along the last axis are those of the training data, after "
                  "`split` and the ops in front. They are computed before "
                  "training begins, kept in checkpoints, and the same in "
                  "evaluation and prediction.",
        .example = "datapipe: {x: [Standardize]}\n",
    },
    .plan = standardize_plan,
    .apply = standardize_apply,
    .fit = standardize_fit,
    .fit_end = standardize_end,
};

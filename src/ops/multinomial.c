/*
 * multinomial: samples classes with probabilities proportional to weights x
 * (classes) or (rows, classes); y (num_samples) or (rows, num_samples).
 *
 * Without replacement, class c gets the key -log(u) / x[c], and classes are
 * taken in ascending order of their keys: Efraimidis and Spirakis, "Weighted
 * random sampling with a reservoir", Information Processing Letters 97 (2006).
 */
#include "families/random.h"
#include "kernels/parallel_for.h"

struct multinomial {
    int64_t num_samples;
    bool replacement;
};

static const struct cr_opt multinomial_opts[] = {
    CR_INT(struct multinomial, num_samples, 1, CR_DIM_MAX,
           "Number of samples per row."),
    CR_BOOL_DEFAULT(struct multinomial, replacement, true,
                    "Sample with replacement."),
    { 0 },
};

static bool multinomial_plan(struct cr_op_plan *p)
{
    const struct multinomial *o = p->attr;
    const struct cr_spec *x = &p->in[0];

    if (x->rank != 1 && x->rank != 2)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "multinomial: found weights %s, expected (classes) or "
                        "(rows, classes)",
                        cr_diag_format(p->arena, x));
    if (!o->replacement && o->num_samples > x->dim[x->rank - 1])
        return cr_error(p->diag, p->pos, CR_E_OUT_OF_RANGE,
                        "multinomial: found num_samples %lld, expected at most "
                        "the %lld classes, or replacement=True",
                        (long long)o->num_samples,
                        (long long)x->dim[x->rank - 1]);
    p->out[0] = *x;
    p->out[0].type = CR_I32;
    p->out[0].dim[x->rank - 1] = o->num_samples;
    p->scratch = (size_t)cr_count(x) * sizeof(double);
    return true;
}

static double weight(cr_real x)
{
    return x > 0 ? (double)x : 0; /* NaN counts as 0 */
}

/* The first class whose cumulative sum exceeds u times the total; in a row
 * without weights the last class. */
static int32_t multinomial_one(const double *sum, int64_t n, double u)
{
    int64_t low = 0, high = n - 1;

    while (low < high) {
        int64_t mid = low + (high - low) / 2;

        if (sum[mid] > u * sum[n - 1])
            high = mid;
        else
            low = mid + 1;
    }
    return (int32_t)low;
}

static double multinomial_time(double w, double u)
{
    return w > 0 ? -log1p(-u) / w : (double)INFINITY;
}

static void multinomial_rows(void *ctx, int64_t from, int64_t to)
{
    const struct cr_op_ctx *s = ctx;
    const struct multinomial *o = s->attr;
    struct cr_draws y = cr_draws(s, &s->out[0]), x = cr_draws(s, &s->in[0]);
    int64_t n = s->in[0].dim[s->in[0].rank - 1], m = o->num_samples, r, i, k;

    for (r = from; r < to; r++) {
        const cr_real *w = cr_creals(s->x[0]) + r * n;
        double *v = (double *)s->scratch + r * n;
        int32_t *to_row = (int32_t *)s->y[0] + r * m;

        for (i = 0; i < n && o->replacement; i++)
            v[i] = weight(w[i]) + (i > 0 ? v[i - 1] : 0);
        for (i = 0; i < n && !o->replacement; i++)
            v[i] = multinomial_time(
                weight(w[i]),
                cr_rng_double(&x.rng, x.first + (uint64_t)(r * n + i)));
        for (k = 0; k < m && o->replacement; k++)
            to_row[k] = multinomial_one(
                v, n, cr_rng_double(&y.rng, y.first + (uint64_t)(r * m + k)));
        for (k = 0; k < m && !o->replacement; k++) {
            int64_t best = -1;

            for (i = 0; i < n; i++)
                if (!isnan(v[i]) && (best < 0 || v[i] < v[best]))
                    best = i;
            to_row[k] = (int32_t)best;
            v[best] = (double)NAN;
        }
    }
}

static void multinomial_forward(const struct cr_op_ctx *s)
{
    int64_t n = s->in[0].dim[s->in[0].rank - 1];

    cr_parallel_for_coarse(cr_count(&s->in[0]) / n, (double)n * 20,
                           (void *)(uintptr_t)s, multinomial_rows);
}

const struct cr_op cr_op_multinomial = {
    .about = { .name = "multinomial",
               .summary = "Samples class indices with probabilities "
                          "proportional to weights.",
               .detail = "Weights (classes) or (rows, classes), which need not "
                         "sum to 1; negative weights count as 0. Without "
                         "replacement the classes of weight 0 come last. No "
                         "gradient.",
               .opts = multinomial_opts,
               .size = sizeof(struct multinomial) },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .inputs = cr_input,
    .draws = true,
    .plan = multinomial_plan,
    .forward = multinomial_forward,
};

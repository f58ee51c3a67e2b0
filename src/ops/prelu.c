/* prelu: y = max(x, 0) + w min(x, 0), one w, or one for each channel (axis 1);
 * dx = dy where x > 0, else w dy;  dw = sum of dy min(x, 0). */
#include "graph/op.h"
#include "kernels/parallel_for.h"

#define CHAINS 16

enum {
    X,
    W
};

/* A run is a sample, or a channel of a sample if each channel has its own w. */
struct runs {
    const struct cr_op_ctx *s;
    int64_t n, size, w; /* number of runs; elements per run; number of values
                           of w */
};

static struct runs prelu_runs(const struct cr_spec in[2],
                              const struct cr_op_ctx *s)
{
    const struct cr_spec *x = &in[X];
    struct runs r = { s, 1, 1, in[W].dim[0] };
    int i;

    for (i = 0; i < x->rank; i++)
        if (i == 0 || (i == 1 && r.w > 1))
            r.n *= x->dim[i];
        else
            r.size *= x->dim[i];
    return r;
}

static bool prelu_plan(struct cr_op_plan *p)
{
    const struct cr_spec *x = &p->in[X], *w = &p->in[W];

    if (x->rank < 1 || w->rank != 1 ||
        (w->dim[0] > 1 && (x->rank < 2 || x->dim[1] != w->dim[0])))
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "weight: found %s for input %s, expected (1,) or one "
                        "value per channel",
                        cr_diag_format(p->arena, w),
                        cr_diag_format(p->arena, x));
    p->out[0] = *x;
    /* one sum per run */
    p->scratch = (size_t)prelu_runs(p->in, NULL).n * sizeof(double);
    return true;
}

CR_CLONES static void prelu_range(void *ctx, int64_t from, int64_t to)
{
    const struct runs *r = ctx;
    const cr_real *x = r->s->x[X], *w = r->s->x[W];
    cr_real *y = r->s->y[0];
    int64_t run, i;

    for (run = from; run < to; run++) {
        cr_real slope = w[run % r->w];

        CR_SIMD
        for (i = run * r->size; i < (run + 1) * r->size; i++)
            y[i] = (x[i] > 0 ? 1 : slope) * x[i];
    }
}

static void prelu_forward(const struct cr_op_ctx *s)
{
    struct runs r = prelu_runs(s->in, s);

    cr_parallel_for_coarse(r.n, (double)r.size, &r, prelu_range);
}

CR_INLINE double below(cr_real x, cr_real dy)
{
    double product = (double)dy * (double)x;

    return x > 0 ? 0 : product;
}

/* Sum of dy min(x, 0), in chains that run side by side. */
CR_CLONES static double below_sum(int64_t n, const cr_real *x,
                                  const cr_real *dy)
{
    double chain[CHAINS] = { 0 }, sum = 0;
    int64_t i, k;

    for (i = 0; i + CHAINS <= n; i += CHAINS) {
        CR_SIMD
        for (k = 0; k < CHAINS; k++)
            chain[k] += below(x[i + k], dy[i + k]);
    }
    for (; i < n; i++)
        sum += below(x[i], dy[i]);
    for (k = 0; k < CHAINS; k++)
        sum += chain[k];
    return sum;
}

/* d = dy where x > 0, else slope dy; add: to what is there */
CR_CLONES static void slope_grad(int64_t n, cr_real slope, bool add,
                                 const cr_real *x, const cr_real *dy,
                                 cr_real *d)
{
    int64_t i;

    if (add) {
        CR_SIMD
        for (i = 0; i < n; i++)
            d[i] += (x[i] > 0 ? 1 : slope) * dy[i];
        return;
    }
    CR_SIMD
    for (i = 0; i < n; i++)
        d[i] = (x[i] > 0 ? 1 : slope) * dy[i];
}

static void prelu_back_range(void *ctx, int64_t from, int64_t to)
{
    const struct runs *r = ctx;
    const cr_real *x = r->s->x[X], *w = r->s->x[W], *dy = r->s->dy[0];
    cr_real *dx = r->s->dx[X];
    double *sums = r->s->scratch;
    int64_t run;

    for (run = from; run < to; run++) {
        int64_t at = run * r->size;

        if (dx)
            slope_grad(r->size, w[run % r->w], r->s->accumulate[X], x + at,
                       dy + at, dx + at);
        sums[run] = below_sum(r->size, x + at, dy + at);
    }
}

static void prelu_backward(const struct cr_op_ctx *s)
{
    struct runs r = prelu_runs(s->in, s);
    const double *sums = s->scratch;
    cr_real *dw = s->dx[W];
    int64_t run, c;

    cr_parallel_for_coarse(r.n, 2 * (double)r.size, &r, prelu_back_range);
    for (c = 0; c < r.w && dw; c++) {
        double sum = s->accumulate[W] ? (double)dw[c] : 0;

        for (run = c; run < r.n; run += r.w)
            sum += sums[run];
        dw[c] = (cr_real)sum;
    }
}

static const char *const prelu_inputs[] = { "input", "weight", NULL };

const struct cr_op cr_op_prelu = {
    .about = { .name = "prelu",
               .summary = "PReLU: x if x > 0, else weight x." },
    .rows = CR_ROWS_FIRST,
    .min_inputs = 2,
    .max_inputs = 2,
    .outputs = 1,
    .inputs = prelu_inputs,
    .saved_for_backward = CR_X(X) | CR_X(W),
    .plan = prelu_plan,
    .forward = prelu_forward,
    .backward = prelu_backward,
};

#include "families/softmax.h"

#include "base/compiler.h"
#include "kernels/parallel_for.h"
#include "kernels/tensor_iter.h"

#include <string.h>

const struct cr_opt cr_softmax_opts[] = {
    CR_INT_DEFAULT(struct cr_softmax, axis, -1, -CR_RANK_MAX, CR_RANK_MAX - 1,
                   "Axis along which the output sums to 1."),
    { 0 },
};

bool cr_softmax_plan(struct cr_op_plan *p)
{
    int at;

    p->out[0] = p->in[0];
    return cr_axis_check(p, &p->in[0],
                         ((const struct cr_softmax *)p->attr)->axis, &at);
}

struct soft {
    const struct cr_op_ctx *s;
    struct cr_axis a;
    bool logarithm;
};

/* ---- forward ---- */

/* y = exp(x - m) of a line, whose m goes to *high; returns the sum. */
CR_CLONES static double soft_exps(int64_t n, const cr_real *x, cr_real *y,
                                  cr_real *high)
{
    double top = -INFINITY, sum = 0;
    int64_t i;
    cr_real m;

    cr_reducer_max.rows(n, x, &top);
    m = *high = (cr_real)top;
    CR_SIMD
    for (i = 0; i < n; i++)
        y[i] = cr_exp(x[i] - m);
    cr_reducer_sum.rows(n, y, &sum);
    return sum;
}

CR_CLONES static void soft_times(int64_t n, cr_real scale, cr_real *y)
{
    int64_t i;

    CR_SIMD
    for (i = 0; i < n; i++)
        y[i] *= scale;
}

double cr_softmax_line(int64_t n, const cr_real *x, cr_real *y, cr_real *top)
{
    double sum = soft_exps(n, x, y, top);

    soft_times(n, (cr_real)(1 / sum), y);
    return log(sum);
}

CR_CLONES static void soft_row(int64_t n, const cr_real *x, cr_real *y,
                               bool logarithm)
{
    cr_real high, log_sum;
    int64_t i;

    if (!logarithm) {
        cr_softmax_line(n, x, y, &high);
        return;
    }
    log_sum = (cr_real)log(soft_exps(n, x, y, &high));
    CR_SIMD
    for (i = 0; i < n; i++)
        y[i] = x[i] - high - log_sum;
}

/* n lines side by side: element c of line i at c * inner + i */
CR_CLONES static void soft_cols(const struct cr_axis *a, int64_t n,
                                const cr_real *x, cr_real *y, bool logarithm)
{
    cr_real top[CR_ITER_RUN_MAX], sum[CR_ITER_RUN_MAX];
    int64_t i, c, last = a->n * a->inner;

    for (i = 0; i < n; i++) {
        top[i] = -INFINITY;
        sum[i] = 0;
    }
    for (c = 0; c < last; c += a->inner) {
        CR_SIMD
        for (i = 0; i < n; i++)
            top[i] = x[c + i] > top[i] ? x[c + i] : top[i];
    }
    for (c = 0; c < last; c += a->inner) {
        CR_SIMD
        for (i = 0; i < n; i++)
            sum[i] += y[c + i] = cr_exp(x[c + i] - top[i]);
    }
    for (i = 0; i < n; i++)
        sum[i] = logarithm ? cr_log(sum[i]) : 1 / sum[i];
    for (c = 0; c < last; c += a->inner) {
        CR_SIMD
        for (i = 0; i < n; i++)
            y[c + i] =
                logarithm ? x[c + i] - top[i] - sum[i] : y[c + i] * sum[i];
    }
}

/* The lines from..to-1 that lie side by side, at most a stretch of them. */
static int64_t adjacent(const struct cr_axis *a, int64_t from, int64_t to)
{
    int64_t n = a->inner - from % a->inner;

    n = n < to - from ? n : to - from;
    return n < CR_ITER_RUN_MAX ? n : CR_ITER_RUN_MAX;
}

static void soft_range(void *ctx, int64_t from, int64_t to)
{
    const struct soft *f = ctx;
    int64_t n;

    for (; from < to; from += n) {
        const cr_real *x =
            (const cr_real *)f->s->x[0] + cr_axis_line(&f->a, from);
        cr_real *y = (cr_real *)f->s->y[0] + cr_axis_line(&f->a, from);

        n = adjacent(&f->a, from, to);
        if (f->a.inner == 1)
            soft_row(f->a.n, x, y, f->logarithm);
        else
            soft_cols(&f->a, n, x, y, f->logarithm);
    }
}

static void soft_lines(const struct cr_op_ctx *s, bool logarithm, double cost,
                       void (*fn)(void *, int64_t, int64_t))
{
    struct soft f = {
        s, cr_axis_of(&s->in[0], ((const struct cr_softmax *)s->attr)->axis),
        logarithm
    };

    cr_parallel_for(f.a.outer * f.a.inner, cost * (double)f.a.n, &f, fn);
}

void cr_softmax(const struct cr_op_ctx *s, bool logarithm)
{
    soft_lines(s, logarithm, 1.5, soft_range);
}

/* ---- backward ---- */

CR_INLINE void soft_put(int64_t n, const cr_real *part, bool add, cr_real *dx)
{
    int64_t i;

    if (!add) {
        memcpy(dx, part, (size_t)n * sizeof *dx);
        return;
    }
    CR_SIMD
    for (i = 0; i < n; i++)
        dx[i] += part[i];
}

CR_CLONES static void back_row(int64_t n, const cr_real *y, const cr_real *dy,
                               bool logarithm, bool add, cr_real *dx)
{
    cr_real part[CR_ITER_RUN_MAX], dot;
    double sum = 0;
    int64_t i, k, m;

    for (i = 0; i < n && !logarithm; i += m) {
        m = n - i < CR_ITER_RUN_MAX ? n - i : CR_ITER_RUN_MAX;
        CR_SIMD
        for (k = 0; k < m; k++)
            part[k] = dy[i + k] * y[i + k];
        cr_reducer_sum.rows(m, part, &sum);
    }
    if (logarithm)
        cr_reducer_sum.rows(n, dy, &sum);
    dot = (cr_real)sum;
    for (i = 0; i < n; i += m) {
        m = n - i < CR_ITER_RUN_MAX ? n - i : CR_ITER_RUN_MAX;
        if (logarithm) {
            CR_SIMD
            for (k = 0; k < m; k++)
                part[k] = dy[i + k] - cr_exp(y[i + k]) * dot;
        } else {
            CR_SIMD
            for (k = 0; k < m; k++)
                part[k] = y[i + k] * (dy[i + k] - dot);
        }
        soft_put(m, part, add, dx + i);
    }
}

CR_CLONES static void back_cols(const struct cr_axis *a, int64_t n,
                                const cr_real *y, const cr_real *dy,
                                bool logarithm, bool add, cr_real *dx)
{
    int64_t i, c, last = a->n * a->inner;
    cr_real dot[CR_ITER_RUN_MAX], part[CR_ITER_RUN_MAX];

    for (i = 0; i < n; i++)
        dot[i] = 0;
    for (c = 0; c < last; c += a->inner) {
        CR_SIMD
        for (i = 0; i < n; i++)
            dot[i] += logarithm ? dy[c + i] : dy[c + i] * y[c + i];
    }
    for (c = 0; c < last; c += a->inner) {
        if (logarithm) {
            CR_SIMD
            for (i = 0; i < n; i++)
                part[i] = dy[c + i] - cr_exp(y[c + i]) * dot[i];
        } else {
            CR_SIMD
            for (i = 0; i < n; i++)
                part[i] = y[c + i] * (dy[c + i] - dot[i]);
        }
        soft_put(n, part, add, dx + c);
    }
}

static void back_range(void *ctx, int64_t from, int64_t to)
{
    const struct soft *f = ctx;
    int64_t n;

    for (; from < to; from += n) {
        int64_t at = cr_axis_line(&f->a, from);
        const cr_real *y = (const cr_real *)f->s->y[0] + at;
        const cr_real *dy = (const cr_real *)f->s->dy[0] + at;
        cr_real *dx = (cr_real *)f->s->dx[0] + at;

        n = adjacent(&f->a, from, to);
        if (f->a.inner == 1)
            back_row(f->a.n, y, dy, f->logarithm, f->s->accumulate[0], dx);
        else
            back_cols(&f->a, n, y, dy, f->logarithm, f->s->accumulate[0], dx);
    }
}

void cr_softmax_backward(const struct cr_op_ctx *s, bool logarithm)
{
    soft_lines(s, logarithm, 1, back_range);
}

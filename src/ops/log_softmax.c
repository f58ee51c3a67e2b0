/* log_softmax along an axis: y = x - m - ln sum exp(x - m),  m = max x
 * dx_c = dy_c - exp(y_c) sum_j dy_j */
#include "net/attr.h"
#include "net/axis.h"

#include "math/each.h"

static bool log_softmax_plan(struct cr_plan *p)
{
    int at;

    p->out[0] = p->in[0];
    return cr_axis_check(p, &p->in[0],
                         ((const struct cr_softmax *)p->attr)->axis, &at);
}

struct lines {
    const struct cr_step *s;
    struct cr_axis a;
};

static void log_softmax_range(void *ctx, int64_t from, int64_t to)
{
    const struct lines *l = ctx;
    int64_t line, c, n = l->a.n * l->a.inner;

    for (line = from; line < to; line++) {
        const cr_real *x =
            (const cr_real *)l->s->x[0] + cr_axis_line(&l->a, line);
        cr_real *y = (cr_real *)l->s->y[0] + cr_axis_line(&l->a, line);
        cr_real top = x[0], sum = 0;

        for (c = 0; c < n; c += l->a.inner)
            top = x[c] > top ? x[c] : top;
        for (c = 0; c < n; c += l->a.inner)
            sum += cr_exp(x[c] - top);
        sum = top + cr_log(sum);
        for (c = 0; c < n; c += l->a.inner)
            y[c] = x[c] - sum;
    }
}

static void log_softmax_back_range(void *ctx, int64_t from, int64_t to)
{
    const struct lines *l = ctx;
    int64_t line, c, n = l->a.n * l->a.inner;

    for (line = from; line < to; line++) {
        int64_t at = cr_axis_line(&l->a, line);
        const cr_real *y = (const cr_real *)l->s->y[0] + at;
        const cr_real *dy = (const cr_real *)l->s->dy[0] + at;
        cr_real *dx = (cr_real *)l->s->dx[0] + at, sum = 0;

        for (c = 0; c < n; c += l->a.inner)
            sum += dy[c];
        for (c = 0; c < n; c += l->a.inner)
            dx[c] = (l->s->add[0] ? dx[c] : 0) + dy[c] - cr_exp(y[c]) * sum;
    }
}

static void log_softmax_lines(const struct cr_step *s,
                              void (*fn)(void *, int64_t, int64_t))
{
    struct lines l = {
        s, cr_axis_of(&s->in[0], ((const struct cr_softmax *)s->attr)->axis)
    };

    cr_each(l.a.outer * l.a.inner, 6 * (double)l.a.n, &l, fn);
}

static void log_softmax_forward(const struct cr_step *s)
{
    log_softmax_lines(s, log_softmax_range);
}

static void log_softmax_backward(const struct cr_step *s)
{
    log_softmax_lines(s, log_softmax_back_range);
}

static const char *const log_softmax_inputs[] = { "logits", NULL };

const struct cr_op cr_op_log_softmax = {
    .about = { .name = "log_softmax",
               .summary = "Logarithm of the softmax along an axis.",
               .opts = cr_softmax_opts,
               .size = sizeof(struct cr_softmax) },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .inputs = log_softmax_inputs,
    .function = true,
    .reads = CR_Y(0),
    .plan = log_softmax_plan,
    .forward = log_softmax_forward,
    .backward = log_softmax_backward,
};

/* tanh: y = tanh(x);  dx = dy (1 - y^2) */
#include "math/each.h"
#include "net/op.h"

#include <math.h>

static bool tanh_plan(struct cr_plan *p)
{
    p->out[0] = p->in[0];
    return true;
}

static void tanh_range(void *ctx, int64_t from, int64_t to)
{
    const struct cr_step *s = ctx;
    const cr_real *x = s->x[0];
    cr_real *y = s->y[0];
    int64_t i;

    for (i = from; i < to; i++)
        y[i] = cr_tanh(x[i]);
}

static void tanh_forward(const struct cr_step *s)
{
    cr_each(cr_count(&s->in[0]), 10, (void *)(uintptr_t)s, tanh_range);
}

static void tanh_back_range(void *ctx, int64_t from, int64_t to)
{
    const struct cr_step *s = ctx;
    const cr_real *y = s->y[0], *dy = s->dy[0];
    cr_real *dx = s->dx[0];
    int64_t i;

    for (i = from; i < to; i++) {
        cr_real d = dy[i] * (1 - y[i] * y[i]);

        dx[i] = s->add[0] ? dx[i] + d : d;
    }
}

static void tanh_backward(const struct cr_step *s)
{
    cr_each(cr_count(&s->in[0]), 1, (void *)(uintptr_t)s, tanh_back_range);
}

const struct cr_op cr_op_tanh = {
    .about = { .name = "tanh", .summary = "Hyperbolic tangent." },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .reads = CR_Y(0),
    .plan = tanh_plan,
    .forward = tanh_forward,
    .backward = tanh_backward,
};

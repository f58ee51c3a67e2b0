/* relu: y = max(x, 0);  dx = dy where y > 0.  NaN passes, so that nothing hides it. */
#include "math/each.h"
#include "net/op.h"

#include <math.h>

static bool relu_plan(struct cr_plan *p)
{
    p->out[0] = p->in[0];
    return true;
}

static void relu_range(void *ctx, int64_t from, int64_t to)
{
    const struct cr_step *s = ctx;
    const cr_real *x = s->x[0];
    cr_real *y = s->y[0];
    int64_t i;

    for (i = from; i < to; i++)
        y[i] = x[i] < 0 ? 0 : x[i];
}

static void relu_forward(const struct cr_step *s)
{
    cr_each(cr_count(&s->in[0]), 0.3, (void *)(uintptr_t)s, relu_range);
}

static void relu_back_range(void *ctx, int64_t from, int64_t to)
{
    const struct cr_step *s = ctx;
    const cr_real *y = s->y[0], *dy = s->dy[0];
    cr_real *dx = s->dx[0];
    int64_t i;

    for (i = from; i < to; i++) {
        cr_real d = y[i] <= 0 ? 0 : dy[i];

        dx[i] = s->add[0] ? dx[i] + d : d;
    }
}

static void relu_backward(const struct cr_step *s)
{
    cr_each(cr_count(&s->in[0]), 1, (void *)(uintptr_t)s, relu_back_range);
}

const struct cr_op cr_op_relu = {
    .about = { .name = "relu", .summary = "max(x, 0)." },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .reads = CR_Y(0),
    .act = CR_ACT_RELU,
    .plan = relu_plan,
    .forward = relu_forward,
    .backward = relu_backward,
};

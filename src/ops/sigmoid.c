/* sigmoid: y = 1 / (1 + exp(-x));  dx = dy y (1 - y) */
#include "math/each.h"
#include "net/op.h"

#include <math.h>

static bool sigmoid_plan(struct cr_plan *p)
{
    p->out[0] = p->in[0];
    return true;
}

static void sigmoid_range(void *ctx, int64_t from, int64_t to)
{
    const struct cr_step *s = ctx;
    const cr_real *x = s->x[0];
    cr_real *y = s->y[0];
    int64_t i;

    for (i = from; i < to; i++)
        y[i] = 1 / (1 + cr_exp(-x[i]));
}

static void sigmoid_forward(const struct cr_step *s)
{
    cr_each(cr_count(&s->in[0]), 5, (void *)(uintptr_t)s, sigmoid_range);
}

static void sigmoid_back_range(void *ctx, int64_t from, int64_t to)
{
    const struct cr_step *s = ctx;
    const cr_real *y = s->y[0], *dy = s->dy[0];
    cr_real *dx = s->dx[0];
    int64_t i;

    for (i = from; i < to; i++) {
        cr_real d = dy[i] * y[i] * (1 - y[i]);

        dx[i] = s->add[0] ? dx[i] + d : d;
    }
}

static void sigmoid_backward(const struct cr_step *s)
{
    cr_each(cr_count(&s->in[0]), 1, (void *)(uintptr_t)s, sigmoid_back_range);
}

const struct cr_op cr_op_sigmoid = {
    .about = { .name = "sigmoid", .summary = "1 / (1 + exp(-x))." },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .reads = CR_Y(0),
    .plan = sigmoid_plan,
    .forward = sigmoid_forward,
    .backward = sigmoid_backward,
};

/* logsumexp: y = m + ln sum exp(x - m), m = max x, along axes;
 * dx = dy exp(x - y) */
#include "families/reduction.h"

#include <string.h>

static bool logsumexp_plan(struct cr_op_plan *p)
{
    if (!cr_reduce_attr_plan(p))
        return false;
    p->scratch = sizeof(cr_real) * (size_t)cr_count(&p->out[0]);
    return true;
}

/* An infinite maximum is the result; subtracting it would give NaN. */
static cr_real shift_of(cr_real top)
{
    return top - top == 0 || top != top ? top : 0;
}

static void logsumexp_same(const void *attr, int64_t n, const cr_real *x,
                           const cr_real *y, int64_t inc, cr_real *to)
{
    (void)attr, (void)y, (void)inc;
    memcpy(to, x, (size_t)n * sizeof *x);
}

CR_CLONES static void logsumexp_values(const void *attr, int64_t n,
                                       const cr_real *x, const cr_real *y,
                                       int64_t inc, cr_real *to)
{
    cr_real shift = shift_of(y[0]);
    int64_t i;

    (void)attr;
    if (inc == 0) {
        CR_SIMD
        for (i = 0; i < n; i++)
            to[i] = cr_exp(x[i] - shift);
    } else {
        CR_SIMD
        for (i = 0; i < n; i++)
            to[i] = cr_exp(x[i] - shift_of(y[i]));
    }
}

static void logsumexp_forward(const struct cr_op_ctx *s)
{
    const struct cr_ints *axis = cr_reduce_attr_axis(s);
    int64_t i, n = cr_count(&s->out[0]);
    cr_real *top = s->scratch, *y = s->y[0];

    cr_reduction_sums(s, axis, &cr_reducer_max, 0.5, NULL, logsumexp_same, top);
    cr_reduction_sums(s, axis, &cr_reducer_sum, 5, top, logsumexp_values, y);
    for (i = 0; i < n; i++)
        y[i] = shift_of(top[i]) + cr_log(y[i]);
}

/* Equality is tested because the difference of infinities is NaN. */
CR_REDUCE_BACKWARD(logsumexp, 1,
                   g[j] * (x[i] == y[j] ? 1 : cr_exp(x[i] - y[j])))

const struct cr_op cr_op_logsumexp = {
    CR_REDUCE_OP("logsumexp", "Log-sum-exp along axes."),
    .saved_for_backward = CR_X(0) | CR_Y(0),
    .saved_unrounded = true,
    .plan = logsumexp_plan,
    .forward = logsumexp_forward,
    .bprop = "axes = None if len(axis) == 0 else axis\n"
             "s = logsumexp(a, axes, keepdims=True)\n"
             "return reshape(dy, s.shape) * exp(a - s)",
    .backward = logsumexp_backward,
};

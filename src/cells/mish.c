/* Mish: y = x t,  t = tanh(log(1 + exp(x)));  dx = dy (t + x (1 - t^2) s),
 * s = 1 / (1 + exp(-x)). Misra, arXiv:1908.08681. */
#include "base/attr.h"
#include "net/cell.h"
#include "net/pointwise.h"

/*
 * With e = exp(-|x|), which does not overflow, t is n / d:
 *   x >= 0: n = 1 + 2 e,   d = n + 2 e^2
 *   x <  0: n = e^2 + 2 e, d = n + 2
 * and 1 - t^2 = (d - n) (d + n) / d^2.
 */
CR_INLINE cr_real mish_t(cr_real x)
{
    cr_real e = cr_exp(-cr_abs(x));
    cr_real n = x < 0 ? e * e + 2 * e : 1 + 2 * e;

    return n / (n + (x < 0 ? 2 : 2 * e * e));
}

CR_INLINE cr_real mish_slope(cr_real x)
{
    cr_real e = cr_exp(-cr_abs(x)), s = (x < 0 ? e : 1) / (1 + e);
    cr_real n = x < 0 ? e * e + 2 * e : 1 + 2 * e;
    cr_real off = x < 0 ? 2 : 2 * e * e, d = n + off;

    return n / d + x * s * (off * (d + n) / (d * d));
}

CR_CLONES
static void mish_map(const void *attr, int64_t n, const cr_real *x, cr_real *y)
{
    int64_t i;

    (void)attr;
    CR_SIMD
    for (i = 0; i < n; i++) {
        cr_real v = x[i];

        y[i] = v * mish_t(v);
    }
}

static void mish_forward(const struct cr_step *s)
{
    cr_pointwise(s, 1.5, mish_map);
}

CR_CLONES
static void mish_back(const void *attr, int64_t n, const cr_real *x,
                      const cr_real *y, const cr_real *dy, cr_real *d)
{
    int64_t i;

    (void)attr;
    (void)y;
    CR_SIMD
    for (i = 0; i < n; i++) {
        cr_real v = x[i], g = dy[i];

        d[i] = g * mish_slope(v);
    }
}

static void mish_backward(const struct cr_step *s)
{
    cr_pointwise_back(s, 2.5, mish_back);
}

static const struct cr_op mish_op = {
    .about = { .name = "mish" },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .reads = CR_X(0),
    .layouts = CR_LAYOUT_FLAT,
    .plan = cr_pointwise_plan,
    .forward = mish_forward,
    .backward = mish_backward,
};

static struct cr_val *mish_build(struct cr_build *b, struct cr_val *const *in)
{
    return CR_EMIT_OP(b, &mish_op, NULL, in[0]);
}

const struct cr_cell cr_cell_mish = {
    .about = {
        .name = "Mish",
        .summary = "x tanh(log(1 + exp(x))).",
        .detail = "Any shape.",
        .example = "network: [Flatten, {Dense: [784, 10]}, Mish]\n",
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .activation = "mish",
    .build = mish_build,
};

/* Mish: y = x t,  t = tanh(log(1 + exp(x)));  dx = dy (t + x (1 - t^2) s),
 * s = 1 / (1 + exp(-x)). Misra, arXiv:1908.08681. */
#include "families/pointwise.h"
#include "graph/cell.h"

/*
 * With e = exp(-|x|), which does not overflow, t is n / d:
 *   x >= 0: n = 1 + 2 e,   d = n + 2 e^2
 *   x <  0: n = e^2 + 2 e, d = n + 2
 * and 1 - t^2 = (d - n) (d + n) / d^2.
 */
CR_INLINE cr_real mish_of(CR_UNUSED const void *o, cr_real x)
{
    return -cr_abs(x);
}

CR_INLINE cr_real mish_t(cr_real x, cr_real e)
{
    cr_real n = x < 0 ? e * e + 2 * e : 1 + 2 * e;

    return n / (n + (x < 0 ? 2 : 2 * e * e));
}

CR_INLINE cr_real mish_slope(cr_real x, cr_real e)
{
    cr_real s = (x < 0 ? e : 1) / (1 + e);
    cr_real n = x < 0 ? e * e + 2 * e : 1 + 2 * e;
    cr_real off = x < 0 ? 2 : 2 * e * e, d = n + off;

    return n / d + x * s * (off * (d + n) / (d * d));
}

CR_INLINE cr_real mish_y(CR_UNUSED const void *o, cr_real v, cr_real e)
{
    return v * mish_t(v, e);
}

CR_INLINE cr_real mish_dx(CR_UNUSED const void *o, cr_real v, cr_real e,
                          cr_real g)
{
    return g * mish_slope(v, e);
}

CR_POINTWISE_CELL_BY(mish, void, exp, of, 0.6, 1, )

const struct cr_cell cr_cell_mish = {
    .about = {
        .name = "Mish",
        .summary = "Mish: x tanh(log(1 + exp(x))).",
        .detail = "Any shape.",
        .example = "network: [Flatten, {Dense: [784, 10]}, Mish]\n",
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .activation = "mish",
    .build = mish_build,
};

/* SiLU: y = x s,  s = 1 / (1 + exp(-x));  dx = dy s (1 + x (1 - s)).
 * Elfwing, Uchibe and Doya, arXiv:1702.03118. */
#include "families/pointwise.h"
#include "graph/cell.h"

/* The factor s, without overflow for any sign of x. */
CR_INLINE cr_real silu_s(cr_real x)
{
    cr_real e = cr_exp(x < 0 ? x : -x);

    return x < 0 ? e / (1 + e) : 1 / (1 + e);
}

CR_INLINE cr_real silu_y(CR_UNUSED const void *o, cr_real v)
{
    return v * silu_s(v);
}

CR_INLINE cr_real silu_dx(CR_UNUSED const void *o, cr_real v, cr_real g)
{
    return g * (silu_s(v) * (1 + v * (1 - silu_s(v))));
}

CR_POINTWISE_CELL(silu, void, x, 1.5, 2,
                  .bprop = "s = sigmoid(a)\n"
                           "return dy * s * (1 + a * (1 - s))")

const struct cr_cell cr_cell_silu = {
    .about = {
        .name = "SiLU",
        .summary = "SiLU (swish): x / (1 + exp(-x)).",
        .detail = "Any shape.",
        .example = "network: [Flatten, {Dense: [784, 10]}, SiLU]\n",
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .activation = "silu",
    .build = silu_build,
};

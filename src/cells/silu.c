/* SiLU: y = x s,  s = 1 / (1 + exp(-x));  dx = dy s (1 + x (1 - s)).
 * Elfwing, Uchibe and Doya, arXiv:1702.03118. */
#include "families/pointwise.h"
#include "graph/cell.h"

static void silu_map(CR_UNUSED const void *attr, int64_t n, const cr_real *x,
                     cr_real *y)
{
    cr_exp_kernel()->silu(n, x, y);
}

CR_INLINE cr_real silu_dx(CR_UNUSED const void *o, cr_real v, cr_real s,
                          cr_real g)
{
    return g * (s * (1 + v * (1 - s)));
}

CR_POINTWISE_BY_GRAD(silu, void, sigmoid, x)
CR_POINTWISE_STEPS(silu, 0.4, 0.5)
CR_POINTWISE_OP(silu, x, .kernels = &cr_pointwise_kernels,
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

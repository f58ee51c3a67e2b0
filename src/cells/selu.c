/* SeLU: y = scale x where x > 0, else scale alpha (exp(x) - 1);
 * dx = dy scale, or dy scale alpha exp(x) = dy (y + scale alpha).
 * Klambauer et al., arXiv:1706.02515. */
#include "families/pointwise.h"
#include "graph/cell.h"

#define ALPHA ((cr_real)1.67326324)
#define SCALE ((cr_real)1.05070098)

CR_INLINE cr_real selu_y(CR_UNUSED const void *o, cr_real v, cr_real e)
{
    return v > 0 ? SCALE * v : SCALE * ALPHA * e;
}

CR_INLINE cr_real selu_dx(CR_UNUSED const void *o, cr_real v, cr_real g)
{
    return v > 0 ? SCALE * g : g * (v + SCALE * ALPHA);
}

CR_POINTWISE_BY_MAP(selu, void, expm1, x)
CR_POINTWISE_GRAD(selu, void, y)
CR_POINTWISE_STEPS(selu, 0.5, 0.3)
CR_POINTWISE_OP(selu, y, .kernels = &cr_pointwise_kernels, )

const struct cr_cell cr_cell_selu = {
    .about = {
        .name = "SeLU",
        .summary = "SELU: scale x if x > 0, else scale alpha (exp(x) - 1).",
        .detail = "Any shape. alpha = 1.67326324, scale = 1.05070098.",
        .example = "network: [Flatten, {Dense: [784, 10]}, SeLU]\n",
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .build = selu_build,
};

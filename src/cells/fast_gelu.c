/* FastGelu: y = x exp(0.851 (x - a)) / (1 + exp(-1.702 a)),  a = |x|; that is
 * x s with s = 1 / (1 + exp(-1.702 x));  dx = dy (s + 1.702 x s (1 - s)).
 * Hendrycks and Gimpel, arXiv:1606.08415. */
#include "families/pointwise.h"
#include "graph/cell.h"

#define SLOPE ((cr_real)1.702)

CR_INLINE cr_real fast_gelu_of(CR_UNUSED const void *o, cr_real v)
{
    return SLOPE * v;
}

CR_INLINE cr_real fast_gelu_y(CR_UNUSED const void *o, cr_real v, cr_real s)
{
    return v * s;
}

CR_INLINE cr_real fast_gelu_dx(CR_UNUSED const void *o, cr_real v, cr_real s,
                               cr_real g)
{
    return g * (s * (1 + SLOPE * v * (1 - s)));
}

CR_POINTWISE_CELL_BY(fast_gelu, void, sigmoid, of, 0.4, 0.5, )

const struct cr_cell cr_cell_fast_gelu = {
    .about = {
        .name = "FastGelu",
        .summary = "Fast GELU: x / (1 + exp(-1.702 x)).",
        .detail = "Any shape.",
        .example = "network: [Flatten, {Dense: [784, 10]}, FastGelu]\n",
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .activation = "fast_gelu",
    .build = fast_gelu_build,
};

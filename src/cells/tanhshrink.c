/* Tanhshrink: y = x - tanh(x);  dx = dy tanh(x)^2. */
#include "families/pointwise.h"
#include "graph/cell.h"

CR_INLINE cr_real tanhshrink_y(CR_UNUSED const void *o, cr_real v, cr_real t)
{
    return v - t;
}

CR_INLINE cr_real tanhshrink_dx(CR_UNUSED const void *o, CR_UNUSED cr_real v,
                                cr_real t, cr_real g)
{
    return g * t * t;
}

CR_POINTWISE_CELL_BY(tanhshrink, void, tanh, x, 0.4, 0.5, )

const struct cr_cell cr_cell_tanhshrink = {
    .about = {
        .name = "Tanhshrink",
        .summary = "Tanhshrink: x - tanh(x).",
        .detail = "Any shape.",
        .example = "network: [Flatten, {Dense: [784, 10]}, Tanhshrink]\n",
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .activation = "tanhshrink",
    .build = tanhshrink_build,
};

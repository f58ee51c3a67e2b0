/* Tanhshrink: y = x - tanh(x);  dx = dy tanh(x)^2. */
#include "families/pointwise.h"
#include "graph/cell.h"

CR_INLINE cr_real tanhshrink_y(CR_UNUSED const void *o, cr_real v)
{
    return v - cr_tanh(v);
}

CR_INLINE cr_real tanhshrink_dx(CR_UNUSED const void *o, cr_real v, cr_real g)
{
    return g * cr_tanh(v) * cr_tanh(v);
}

CR_POINTWISE_CELL(tanhshrink, void, x, 2, 2, )

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

/* HSwish: y = x min(max(x + 3, 0), 6) / 6;  dx = dy (2 x + 3) / 6 where
 * -3 <= x <= 3, 0 below, dy above. Howard et al., arXiv:1905.02244. */
#include "families/pointwise.h"
#include "graph/cell.h"

CR_INLINE cr_real h_swish_y(CR_UNUSED const void *o, cr_real v)
{
    return v < -3 ? 0 : v > 3 ? v : v * (v + 3) / 6;
}

CR_INLINE cr_real h_swish_dx(CR_UNUSED const void *o, cr_real v, cr_real g)
{
    return v < -3 ? 0 : v > 3 ? g : g * (2 * v + 3) / 6;
}

CR_POINTWISE_CELL(h_swish, void, x, 0.3, 0.5, )

const struct cr_cell cr_cell_h_swish = {
    .about = {
        .name = "HSwish",
        .summary = "Hard swish: x min(max(x + 3, 0), 6) / 6.",
        .detail = "Any shape.",
        .example = "network: [Flatten, {Dense: [784, 10]}, HSwish]\n",
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .activation = "hswish",
    .build = h_swish_build,
};

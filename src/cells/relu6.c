/* ReLU6: y = min(max(x, 0), 6);  dx = dy where 0 < x <= 6. */
#include "families/pointwise.h"
#include "graph/cell.h"

CR_INLINE cr_real relu6_y(CR_UNUSED const void *o, cr_real v)
{
    return v < 0 ? 0 : v > 6 ? 6 : v;
}

CR_INLINE cr_real relu6_dx(CR_UNUSED const void *o, cr_real v, cr_real g)
{
    return v > 0 && v <= 6 ? g : 0;
}

CR_POINTWISE_CELL(relu6, void, x, 0.3, 0.5, .algebra.act = CR_ACT_RELU6)

const struct cr_cell cr_cell_relu6 = {
    .about = {
        .name = "ReLU6",
        .summary = "ReLU6: min(max(x, 0), 6).",
        .detail = "Any shape.",
        .example = "network: [Flatten, {Dense: [784, 10]}, ReLU6]\n",
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .activation = "relu6",
    .build = relu6_build,
};

/* HSigmoid: y = min(max((x + 3) / 6, 0), 1);  dx = dy / 6 where -3 < x < 3. */
#include "families/pointwise.h"
#include "graph/cell.h"

CR_INLINE cr_real h_sigmoid_y(CR_UNUSED const void *o, cr_real v)
{
    return v < -3 ? 0 : v > 3 ? 1 : (v + 3) / 6;
}

CR_INLINE cr_real h_sigmoid_dx(CR_UNUSED const void *o, cr_real v, cr_real g)
{
    return v > -3 && v < 3 ? g / 6 : 0;
}

CR_POINTWISE_CELL(h_sigmoid, void, x, 0.3, 0.5, )

const struct cr_cell cr_cell_h_sigmoid = {
    .about = {
        .name = "HSigmoid",
        .summary = "Hard sigmoid: min(max((x + 3) / 6, 0), 1).",
        .detail = "Any shape.",
        .example = "network: [Flatten, {Dense: [784, 10]}, HSigmoid]\n",
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .activation = "hsigmoid",
    .build = h_sigmoid_build,
};

/* Softsign: y = x / (1 + |x|);  dx = dy / (1 + |x|)^2. */
#include "families/pointwise.h"
#include "graph/cell.h"

CR_INLINE cr_real softsign_y(CR_UNUSED const void *o, cr_real v)
{
    return v / (1 + cr_abs(v));
}

CR_INLINE cr_real softsign_dx(CR_UNUSED const void *o, cr_real v, cr_real g)
{
    return g / ((1 + cr_abs(v)) * (1 + cr_abs(v)));
}

CR_POINTWISE_CELL(softsign, void, x, 0.3, 0.5,
                  .bprop = "return dy / square(1 + abs(a))")

const struct cr_cell cr_cell_softsign = {
    .about = {
        .name = "Softsign",
        .summary = "Softsign: x / (1 + |x|).",
        .detail = "Any shape.",
        .example = "network: [Flatten, {Dense: [784, 10]}, Softsign]\n",
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .activation = "softsign",
    .build = softsign_build,
};

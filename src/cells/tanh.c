/* Tanh: hyperbolic tangent. */
#include "graph/cell.h"

static struct cr_val *tanh_build(struct cr_build *b, struct cr_val *const *in)
{
    return CR_EMIT(b, "tanh", NULL, in[0]);
}

const struct cr_cell cr_cell_tanh = {
    .about = {
        .name = "Tanh",
        .summary = "Tanh: hyperbolic tangent.",
        .detail = "Any shape.",
        .example = "network: [Flatten, {Dense: [784, 10]}, Tanh]\n",
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .activation = "tanh",
    .build = tanh_build,
};

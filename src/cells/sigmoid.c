/* Sigmoid: 1 / (1 + exp(-x)). */
#include "graph/cell.h"

static struct cr_val *sigmoid_build(struct cr_build *b,
                                    struct cr_val *const *in)
{
    return CR_EMIT(b, "sigmoid", NULL, in[0]);
}

const struct cr_cell cr_cell_sigmoid = {
    .about = {
        .name = "Sigmoid",
        .summary = "Sigmoid: 1 / (1 + exp(-x)).",
        .detail = "Any shape.",
        .example = "network: [Flatten, {Dense: [784, 10]}, Sigmoid]\n",
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .activation = "sigmoid",
    .build = sigmoid_build,
};

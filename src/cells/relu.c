/* ReLU: max(x, 0). */
#include "graph/cell.h"

static struct cr_val *relu_build(struct cr_build *b, struct cr_val *const *in)
{
    return CR_EMIT(b, "relu", NULL, in[0]);
}

const struct cr_cell cr_cell_relu = {
    .about = {
        .name = "ReLU",
        .summary = "ReLU, rectified linear unit: max(x, 0).",
        .detail = "Any shape. NaN gives NaN.",
        .example = "network: [Flatten, {Dense: [784, 10]}, ReLU]\n",
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .activation = "relu",
    .build = relu_build,
};

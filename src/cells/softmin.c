/* Softmin: the softmax of -x along an axis. */
#include "graph/cell.h"
#include "graph/op_attrs.h"

static struct cr_val *softmin_build(struct cr_build *b,
                                    struct cr_val *const *in)
{
    struct cr_val *x = CR_EMIT(b, "neg", NULL, in[0]);

    return CR_EMIT(b, "softmax", cr_opts(b), x);
}

const struct cr_cell cr_cell_softmin = {
    .about = {
        .name = "Softmin",
        .summary = "Softmin: the softmax of -x along an axis.",
        .detail = "Any shape.",
        .example = "network: [Flatten, {Dense: [784, 10]}, Softmin]\n",
        .opts = cr_softmax_opts,
        .size = sizeof(struct cr_softmax),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .activation = "softmin",
    .build = softmin_build,
};

/* Softmax: exponentials divided by their sum along an axis. */
#include "graph/cell.h"
#include "graph/op_attrs.h"

static struct cr_val *softmax_build(struct cr_build *b,
                                    struct cr_val *const *in)
{
    return CR_EMIT(b, "softmax", cr_opts(b), in[0]);
}

const struct cr_cell cr_cell_softmax = {
    .about = {
        .name = "Softmax",
        .summary = "Softmax along an axis.",
        .detail = "Any shape. Do not use it before CrossEntropyLoss, which "
                  "expects logits.",
        .example = "network: [Flatten, {Dense: [784, 10]}, Softmax]\n",
        .opts = cr_softmax_opts,
        .size = sizeof(struct cr_softmax),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .activation = "softmax",
    .build = softmax_build,
};

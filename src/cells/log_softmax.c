/* LogSoftmax: the logarithm of the softmax along an axis. */
#include "graph/cell.h"
#include "graph/op_attrs.h"

static struct cr_val *log_softmax_build(struct cr_build *b,
                                        struct cr_val *const *in)
{
    return CR_EMIT(b, "log_softmax", cr_opts(b), in[0]);
}

const struct cr_cell cr_cell_log_softmax = {
    .about = {
        .name = "LogSoftmax",
        .summary = "Log-softmax: the logarithm of the softmax along an axis.",
        .detail = "Any shape. Do not use it before CrossEntropyLoss, which "
                  "expects logits.",
        .example = "network: [Flatten, {Dense: [784, 10]}, LogSoftmax]\n",
        .opts = cr_softmax_opts,
        .size = sizeof(struct cr_softmax),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .activation = "logsoftmax",
    .build = log_softmax_build,
};

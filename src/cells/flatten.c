/* Flatten: merges several dimensions into one. */
#include "graph/cell.h"
#include "graph/op_attrs.h"

static struct cr_val *flatten_build(struct cr_build *b,
                                    struct cr_val *const *in)
{
    return CR_EMIT(b, "flatten", cr_opts(b), in[0]);
}

const struct cr_cell cr_cell_flatten = {
    .about = {
        .name = "Flatten",
        .summary = "Flattens a range of dimensions into one.",
        .detail = "Input (batch, ...), output (batch, features) with the "
                  "defaults.",
        .example = "network: [Flatten, {Dense: [784, 10]}]\n",
        .opts = cr_flatten_opts,
        .size = sizeof(struct cr_flatten),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .flat = true,
    .build = flatten_build,
};

/* Identity: returns its input. */
#include "graph/cell.h"

static struct cr_val *identity_build(struct cr_build *b,
                                     struct cr_val *const *in)
{
    (void)b;
    return in[0];
}

const struct cr_cell cr_cell_identity = {
    .about = {
        .name = "Identity",
        .summary = "Returns its input unchanged.",
        .detail = "Any shape; computes nothing.",
        .example = "network: [Flatten, {Dense: [784, 10]}, Identity]\n",
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .build = identity_build,
};

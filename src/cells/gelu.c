/* GELU: Gaussian error linear unit. */
#include "net/attr.h"
#include "net/cell.h"

static struct cr_val *gelu_build(struct cr_build *b, struct cr_val *const *in)
{
    return CR_EMIT(b, "gelu", cr_opts(b), in[0]);
}

const struct cr_cell cr_cell_gelu = {
    .about = {
        .name = "GELU",
        .summary = "Gaussian error linear unit.",
        .detail = "approximate: x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), "
                  "else x/2 (1 + erf(x/sqrt 2)).",
        .example = "network: [Flatten, {Dense: [784, 10]}, GELU]\n",
        .opts = cr_gelu_opts,
        .size = sizeof(struct cr_gelu),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .activation = "gelu",
    .build = gelu_build,
};

/* GELU: Gaussian error linear unit. */
#include "graph/cell.h"
#include "graph/op_attrs.h"

struct gelu {
    bool approximate;
};

static const struct cr_opt gelu_opts[] = {
    CR_BOOL_DEFAULT(struct gelu, approximate, true,
                    "Use the tanh approximation instead of erf."),
    { 0 },
};

static struct cr_val *gelu_build(struct cr_build *b, struct cr_val *const *in)
{
    const struct gelu *o = cr_opts(b);
    struct cr_gelu *attr = CR_NEW(cr_build_arena(b), struct cr_gelu);

    attr->approximate = o->approximate ? CR_GELU_TANH : CR_GELU_EXACT;
    return CR_EMIT(b, "gelu", attr, in[0]);
}

const struct cr_cell cr_cell_gelu = {
    .about = {
        .name = "GELU",
        .summary = "GELU: Gaussian error linear unit.",
        .detail = "x/2 (1 + erf(x/sqrt 2)); with approximate x/2 (1 + "
                  "tanh(sqrt(2/pi) (x + 0.044715 x^3))).",
        .example = "network: [Flatten, {Dense: [784, 10]}, GELU]\n",
        .opts = gelu_opts,
        .size = sizeof(struct gelu),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .activation = "gelu",
    .build = gelu_build,
};

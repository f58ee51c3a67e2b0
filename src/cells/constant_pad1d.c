/* ConstantPad1d: a number around the last dimension. */
#include "families/pad_cells.h"

static struct cr_val *constant_pad1d_build(struct cr_build *b,
                                           struct cr_val *const *in)
{
    static const struct cr_pad_rules rules = {
        .dims = 1, .min_pairs = 1, .max_pairs = 1, .mode = CR_PAD_CONSTANT
    };

    return cr_pad_build(b, in[0], &rules);
}

const struct cr_cell cr_cell_constant_pad1d = {
    .about = {
        .name = "ConstantPad1d",
        .summary = "Padding of the last dimension with a number.",
        .detail = "Any shape with enough dimensions.",
        .example = "network: {pad: {ConstantPad1d: [[1, 2], 0.5]}, flatten: "
                   "Flatten, fc: {Dense: {out_channels: 10}}}\n",
        .opts = cr_constant_pad_opts,
        .size = sizeof(struct cr_pad_opts),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .build = constant_pad1d_build,
};

/* ReflectionPad2d: the last two dimensions mirrored at the border. */
#include "families/pad_cells.h"

static struct cr_val *reflection_pad2d_build(struct cr_build *b,
                                             struct cr_val *const *in)
{
    static const struct cr_pad_rules rules = { .dims = 2,
                                               .min_pairs = 1,
                                               .mode = CR_PAD_REFLECT };

    return cr_pad_build(b, in[0], &rules);
}

const struct cr_cell cr_cell_reflection_pad2d = {
    .about = {
        .name = "ReflectionPad2d",
        .summary = "Padding of the last two dimensions with the input, "
                   "mirrored at its border.",
        .detail = "Any shape with enough dimensions; a number is less than "
                  "the size of its dimension. The border is not repeated. As "
                  "in MindSpore, a list may pad any number of dimensions.",
        .example = "network: {pad: {ReflectionPad2d: [1, 1, 2, 0]}, flatten: "
                   "Flatten, fc: {Dense: {out_channels: 10}}}\n",
        .opts = cr_reflection_pad_opts,
        .size = sizeof(struct cr_pad_opts),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .build = reflection_pad2d_build,
};

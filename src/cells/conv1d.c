/* Conv1d: a learned convolution. */
#include "net/conv_ops.h"

static const struct cr_opt conv1d_opts[] = {
    CR_CONV_CELL_OPTS("", "input: same keeps size by stride", "either end", ),
    { 0 },
};

static struct cr_val *conv1d_build(struct cr_build *b, struct cr_val *const *in)
{
    return cr_conv_cell_build(b, in[0], "Conv1d", 1, "conv2d");
}

const struct cr_cell cr_cell_conv1d = {
    .about = {
        .name = "Conv1d",
        .summary = "Convolution over sequences.",
        .detail = "Input (batch, in_channels, length), output the "
                  "same with out_channels. Parameters: weight "
                  "(out_channels, in_channels / group, 1, kernel_size), "
                  "bias (out_channels). No kernel is flipped.",
        .example = "network: [{Conv1d: {out_channels: 6, kernel_size: "
                   "3}}]\n",
        .opts = conv1d_opts,
        .size = sizeof(struct cr_conv_cell),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .build = conv1d_build,
};

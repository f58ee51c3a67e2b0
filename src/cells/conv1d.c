/* Conv1d: convolution with a learned kernel, x (N, C, L). */
#include "families/conv_ops.h"

static const struct cr_opt conv1d_opts[] = {
    CR_CONV_CELL_OPTS("",
                      "input. same: the output size is ceil(input / stride)",
                      "either end", ),
    { 0 },
};

static struct cr_val *conv1d_build(struct cr_build *b, struct cr_val *const *in)
{
    return cr_conv_cell_build(b, in[0], "Conv1d", 1, "conv2d");
}

const struct cr_cell cr_cell_conv1d = {
    .about = {
        .name = "Conv1d",
        .summary = "1-D convolution.",
        .detail = "Input (batch, in_channels, length), output (batch, "
                  "out_channels, length). A cross-correlation: the kernel is "
                  "not flipped. Parameters: weight (out_channels, in_channels "
                  "/ group, 1, kernel_size), bias (out_channels).",
        .example = "network: [{Conv1d: {out_channels: 6, kernel_size: "
                   "3}}]\n",
        .opts = conv1d_opts,
        .size = sizeof(struct cr_conv_cell),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .build = conv1d_build,
};

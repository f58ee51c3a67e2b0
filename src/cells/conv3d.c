/* Conv3d: convolution with a learned kernel, x (N, C, D, H, W). */
#include "families/conv_ops.h"

static const struct cr_opt conv3d_opts[] = {
    CR_CONV_CELL_OPTS(": one number or (depth, height, width)",
                      "input. same: the output size is ceil(input / stride)",
                      "every side, or before and after depth, height, width", ),
    { 0 },
};

static struct cr_val *conv3d_build(struct cr_build *b, struct cr_val *const *in)
{
    return cr_conv_cell_build(b, in[0], "Conv3d", 3, "conv3d");
}

const struct cr_cell cr_cell_conv3d = {
    .about = {
        .name = "Conv3d",
        .summary = "3-D convolution.",
        .detail = "Input (batch, in_channels, depth, height, width), output "
                  "(batch, out_channels, depth, height, width). A "
                  "cross-correlation: the kernel is not flipped. Parameters: "
                  "weight (out_channels, in_channels / group, kernel_d, "
                  "kernel_h, kernel_w), bias (out_channels).",
        .example = "network: [{Conv3d: {out_channels: 6, kernel_size: "
                   "3}}]\n",
        .opts = conv3d_opts,
        .size = sizeof(struct cr_conv_cell),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .build = conv3d_build,
};

/* Conv3dTranspose: transposed convolution with a learned kernel,
 * x (N, C, D, H, W). */
#include "families/conv_ops.h"

static const struct cr_opt conv3d_transpose_opts[] = {
    CR_CONV_CELL_OPTS(
        ": one number or (depth, height, width)",
        "output. same: the output size is input * stride",
        "every side, or before and after depth, height, width",
        CR_INTS_OPTIONAL(struct cr_conv_cell, output_padding, 0, 1 << 20,
                         "Planes, rows and columns added at the end of the "
                         "output, with pad_mode pad. Default: 0."), ),
    { 0 },
};

static struct cr_val *conv3d_transpose_build(struct cr_build *b,
                                             struct cr_val *const *in)
{
    return cr_conv_cell_build(b, in[0], "Conv3dTranspose", 3,
                              "conv3d_transpose");
}

const struct cr_cell cr_cell_conv3d_transpose = {
    .about = {
        .name = "Conv3dTranspose",
        .summary = "3-D transposed convolution.",
        .detail = "Input (batch, in_channels, depth, height, width), output "
                  "(batch, out_channels, depth, height, width). Parameters: "
                  "weight (in_channels, out_channels / group, kernel_d, "
                  "kernel_h, kernel_w), bias (out_channels). The output's "
                  "sizes are those of Conv2dTranspose.",
        .example = "network: [{Conv3dTranspose: {out_channels: 6, kernel_size: "
                   "3}}]\n",
        .opts = conv3d_transpose_opts,
        .size = sizeof(struct cr_conv_cell),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .build = conv3d_transpose_build,
};

/* Conv2dTranspose: transposed convolution with a learned kernel. */
#include "families/conv_ops.h"

static const struct cr_opt conv2d_transpose_opts[] = {
    CR_CONV_CELL_OPTS(
        ": one number or (height, width)",
        "output. same: the output size is input * stride",
        "every side, or top, bottom, left, right",
        CR_INTS_OPTIONAL(struct cr_conv_cell, output_padding, 0, 1 << 20,
                         "Rows and columns added at the end of the output, "
                         "with pad_mode pad. Default: 0."), ),
    { 0 },
};

static struct cr_val *conv2d_transpose_build(struct cr_build *b,
                                             struct cr_val *const *in)
{
    return cr_conv_cell_build(b, in[0], "Conv2dTranspose", 2,
                              "conv2d_transpose");
}

const struct cr_cell cr_cell_conv2d_transpose = {
    .about = {
        .name = "Conv2dTranspose",
        .summary = "2-D transposed convolution.",
        .detail = "Input (batch, in_channels, height, width), output (batch, "
                  "out_channels, height, width). Parameters: weight "
                  "(in_channels, out_channels / group, kernel_h, kernel_w), "
                  "bias (out_channels). Output height for stride S and Ke = "
                  "dilation (kernel - 1) + 1: H S with pad_mode same, H S + "
                  "max(Ke - S, 0) with valid, H S - before - after + Ke - S + "
                  "output_padding with pad; the width likewise. The values in "
                  "output_padding are those of the convolution, as in PyTorch.",
        .example = "network: [{Conv2dTranspose: {out_channels: 6, kernel_size: "
                   "3}}]\n",
        .opts = conv2d_transpose_opts,
        .size = sizeof(struct cr_conv_cell),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .build = conv2d_transpose_build,
};

/* Conv1dTranspose: transposed convolution with a learned kernel,
 * x (N, C, L). */
#include "families/conv_ops.h"

static const struct cr_opt conv1d_transpose_opts[] = {
    CR_CONV_CELL_OPTS("", "output. same: the output size is input * stride",
                      "either end", ),
    { 0 },
};

static struct cr_val *conv1d_transpose_build(struct cr_build *b,
                                             struct cr_val *const *in)
{
    return cr_conv_cell_build(b, in[0], "Conv1dTranspose", 1,
                              "conv2d_transpose");
}

const struct cr_cell cr_cell_conv1d_transpose = {
    .about = {
        .name = "Conv1dTranspose",
        .summary = "1-D transposed convolution.",
        .detail = "Input (batch, in_channels, length), output (batch, "
                  "out_channels, length). Parameters: weight (in_channels, "
                  "out_channels / group, 1, kernel_size), bias (out_channels). "
                  "Output length for stride S and Ke = dilation (kernel - 1) + "
                  "1: L S with pad_mode same, L S + max(Ke - S, 0) with valid, "
                  "L S - before - after + Ke - S with pad.",
        .example = "network: [{Conv1dTranspose: {out_channels: 6, kernel_size: "
                   "3}}]\n",
        .opts = conv1d_transpose_opts,
        .size = sizeof(struct cr_conv_cell),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .build = conv1d_transpose_build,
};

/* Conv2d: convolution with a learned kernel, x (N, C, H, W). */
#include "families/conv_ops.h"
#include "families/nhwc.h"

static const struct cr_opt conv2d_opts[] = {
    CR_CONV_CELL_OPTS(": one number or (height, width)",
                      "input. same: the output size is ceil(input / stride)",
                      "every side, or top, bottom, left, right", ),
    CR_ENUM_DEFAULT(struct cr_conv_cell, data_format, CR_NCHW, CR_DATA_FORMATS,
                    CR_NHWC_DOC
                    " The weight is then (out_channels, kernel_h, kernel_w, "
                    "in_channels / group)."),
    { 0 },
};

static struct cr_val *conv2d_build(struct cr_build *b, struct cr_val *const *in)
{
    return cr_conv_cell_build(b, in[0], "Conv2d", 2, "conv2d");
}

const struct cr_cell cr_cell_conv2d = {
    .about = {
        .name = "Conv2d",
        .summary = "2-D convolution.",
        .detail = "Input (batch, in_channels, height, width), output (batch, "
                  "out_channels, height, width). A cross-correlation: the "
                  "kernel is not flipped. Parameters: weight (out_channels, "
                  "in_channels / group, kernel_h, kernel_w), bias "
                  "(out_channels).",
        .example = "network: [{Conv2d: {out_channels: 6, kernel_size: "
                   "3}}]\n",
        .opts = conv2d_opts,
        .size = sizeof(struct cr_conv_cell),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .build = conv2d_build,
};

/* Conv2dTranspose: a learned transposed convolution. */
#include "net/convolve.h"

static const struct cr_opt conv2d_transpose_opts[] = {
    CR_INT_MAY(struct cr_conv_cell, in_channels, 1, CR_DIM_MAX,
               "Channels that come in; taken from the input if not given."),
    CR_INT(struct cr_conv_cell, out_channels, 1, CR_DIM_MAX,
           "Channels that go out."),
    CR_INTS(struct cr_conv_cell, kernel_size, 1, 1 << 20,
            "Size of the window: one number or (height, width)."),
    CR_INTS_MAY(struct cr_conv_cell, stride, 1, 1 << 20,
                "Step of the window; 1 if not given."),
    CR_ENUM_OR(
        struct cr_conv_cell, pad_mode, CR_PAD_SAME, CR_PAD_MODES,
        "Zeros around the output: same keeps size times stride, valid has "
        "none, pad as `padding` says."),
    CR_INTS_MAY(struct cr_conv_cell, padding, 0, 1 << 20,
                "Zeros at every side, or top, bottom, left, right, "
                "for pad_mode pad; 0 if not given."),
    CR_INTS_MAY(struct cr_conv_cell, output_padding, 0, 1 << 20,
                "Further rows and columns at the end, for "
                "pad_mode pad; 0 if not given."),
    CR_INTS_MAY(struct cr_conv_cell, dilation, 1, 1 << 20,
                "Step between the kernel's elements; 1 if "
                "not given."),
    CR_INT_OR(struct cr_conv_cell, group, 1, 1, CR_DIM_MAX,
              "Groups of channels that see only each other; in_channels for "
              "a depthwise convolution."),
    CR_BOOL_OR(struct cr_conv_cell, has_bias, false,
               "Add a learned offset to each channel."),
    CR_OBJ_MAY(struct cr_conv_cell, weight_init, CR_KIND_INIT,
               "How the weight begins; the scheme of `init` if not given."),
    CR_OBJ_MAY(struct cr_conv_cell, bias_init, CR_KIND_INIT,
               "How the bias begins."),
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
        .summary = "Transposed convolution over images.",
        .detail = "Input (batch, in_channels, height, width), output the "
                  "same with out_channels. Parameters: weight (in_channels, "
                  "out_channels / group, kernel_h, kernel_w), bias "
                  "(out_channels). Output sizes, with stride S and "
                  "Ke = dilation (kernel - 1) + 1: same H S, valid "
                  "H S + max(Ke - S, 0), pad H S - before - after + Ke - S + "
                  "output_padding, whose places hold what the formula gives, "
                  "as in PyTorch.",
        .example = "network: [{Conv2dTranspose: {out_channels: 6, kernel_size: "
                   "3}}]\n",
        .opts = conv2d_transpose_opts,
        .size = sizeof(struct cr_conv_cell),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .build = conv2d_transpose_build,
};

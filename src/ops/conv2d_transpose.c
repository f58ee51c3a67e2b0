/* conv2d_transpose: the gradient of conv2d by its input, as a forward
 *
 *   x (n, c, h, w)   w (c, o / groups, kh, kw)   b (o), optional */
#include "net/convolve.h"

static const char *const conv2d_transpose_inputs[] = { "input", "weight",
                                                       "bias", NULL };

static const struct cr_opt conv2d_transpose_opts[] = {
    CR_INTS_MAY(struct cr_convolve, stride, 1, 1 << 20,
                "Step of the window; 1 if not given."),
    CR_ENUM_OR(struct cr_convolve, pad_mode, CR_PAD_VALID, CR_PAD_MODES,
               "Zeros around the input."),
    CR_INTS_MAY(struct cr_convolve, padding, 0, 1 << 20,
                "For pad_mode pad: one number or before and after each "
                "dimension."),
    CR_INTS_MAY(struct cr_convolve, dilation, 1, 1 << 20,
                "Step between the kernel's elements; 1 if not given."),
    CR_INT_OR(struct cr_convolve, groups, 1, 1, CR_DIM_MAX,
              "Groups of channels that see only each other."),
    CR_INTS_MAY(struct cr_convolve, output_padding, 0, 1 << 20,
                "Further rows and columns of the output, 0 if not given."),
    { 0 },
};

const struct cr_op cr_op_conv2d_transpose = {
    .about = { .name = "conv2d_transpose",
               .summary = "The adjoint of conv2d: transposed convolution.",
               .opts = conv2d_transpose_opts,
               .size = sizeof(struct cr_convolve) },
    .min_inputs = 2,
    .max_inputs = 3,
    .outputs = 1,
    .inputs = conv2d_transpose_inputs,
    .reads = CR_X(0) | CR_X(1),
    .scales = CR_X(1) | CR_X(2),
    .masks = CR_X(0),
    .acts = true,
    .layouts = CR_LAYOUT_LAST,
    .prefers_last = cr_deconvolve_prefers_last,
    .amp = CR_AMP_WHITE | CR_AMP_LOW,
    .plan = cr_deconvolve_plan,
    .forward = cr_deconvolve_forward,
    .backward = cr_deconvolve_backward,
};

/* conv2d: y = w * x + b, a cross-correlation
 *
 *   x (n, c, h, w)   w (o, c / groups, kh, kw)   b (o), optional
 *   x (n, c, l)      w (o, c / groups, 1, k)
 *
 * Options and defaults are those of MindSpore's ops.conv2d. */
#include "net/convolve.h"

static const char *const conv2d_inputs[] = { "input", "weight", "bias", NULL };

static const struct cr_opt conv2d_opts[] = {
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
    { 0 },
};

const struct cr_op cr_op_conv2d = {
    .about = { .name = "conv2d",
               .summary = "Convolution over (N, C, H, W) or (N, C, L).",
               .opts = conv2d_opts,
               .size = sizeof(struct cr_convolve) },
    .min_inputs = 2,
    .max_inputs = 3,
    .outputs = 1,
    .inputs = conv2d_inputs,
    .function = true,
    .reads = CR_X(0) | CR_X(1),
    .scales = CR_X(1) | CR_X(2),
    .masks = CR_X(0),
    .acts = true,
    .adds = CR_X(3),
    .folds = true,
    .layouts = CR_LAYOUT_LAST,
    .prefers_last = cr_convolve_prefers_last,
    .amp = CR_AMP_WHITE | CR_AMP_LOW,
    .plan = cr_convolve_plan,
    .forward = cr_convolve_forward,
    .backward = cr_convolve_backward,
};

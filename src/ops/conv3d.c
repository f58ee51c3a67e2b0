/* conv3d: y = w * x + b, a cross-correlation
 *
 *   x (n, c, d, h, w)   w (o, c / groups, kd, kh, kw)   b (o), optional
 *
 * Options and defaults are those of MindSpore's ops.conv3d. */
#include "families/conv_ops.h"

static const struct cr_opt conv3d_opts[] = {
    CR_CONVOLVE_OPTS,
    { 0 },
};

const struct cr_op cr_op_conv3d = {
    .about = { .name = "conv3d",
               .summary = "3-D convolution over (N, C, D, H, W).",
               .opts = conv3d_opts,
               .size = sizeof(struct cr_convolve) },
    CR_CONVOLVE_OP,
    .fuses_add = CR_X(3),
    .bn_foldable = 1,
    .prefers_last = cr_convolve_prefers_last,
    .prepare = &cr_convolve_prepare,
    .plan = cr_convolve_plan,
    .kernel = cr_convolve_kernel,
    .forward = cr_convolve_forward,
    .bprop = "return (kernel(0), kernel(1),\n"
             "        None if c is None else shaped(dy, c, 1))",
    .linear = CR_X(0) | CR_X(1),
    .backward = cr_convolve_backward,
};

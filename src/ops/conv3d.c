/* conv3d: y = w * x + b, a cross-correlation
 *
 *   x (n, c, d, h, w)   w (o, c / groups, kd, kh, kw)   b (o), optional
 *
 * Options and defaults are those of MindSpore's ops.conv3d. */
#include "families/conv_ops.h"
#include "families/samples.h"

static const struct cr_opt conv3d_opts[] = {
    CR_CONVOLVE_OPTS,
    { 0 },
};

const struct cr_op cr_op_conv3d = {
    .about = { .name = "conv3d",
               .summary = "3-D convolution over (N, C, D, H, W).",
               .opts = conv3d_opts,
               .size = sizeof(struct cr_convolve) },
    .rows = CR_ROWS_FIRST,
    CR_CONVOLVE_OP,
    .algebra = { .linear = CR_X(0) | CR_X(1), .channels = 1 },
    .kernels = &cr_convolve_kernels,
    .low = CR_X(0) | CR_Y(0),
    .low_scratch = cr_samples_scratch,
    .plan = cr_convolve_plan,
    .forward = cr_convolve_forward,
    .bprop = "return (kernel(0), kernel(1),\n"
             "        None if c is None else shaped(dy, c, 1))",
    .backward = cr_convolve_backward,
};

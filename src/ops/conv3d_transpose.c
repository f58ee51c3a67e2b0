/* conv3d_transpose: the input gradient of conv3d as a forward op
 *
 *   x (n, c, d, h, w)   w (c, o / groups, kd, kh, kw)   b (o), optional */
#include "families/conv_ops.h"

static const struct cr_opt conv3d_transpose_opts[] = {
    CR_CONVOLVE_OPTS,
    CR_INTS_OPTIONAL(struct cr_convolve, output_padding, 0, 1 << 20,
                     "Planes, rows and columns added at the end of the "
                     "output. Default: 0."),
    { 0 },
};

const struct cr_op cr_op_conv3d_transpose = {
    .about = { .name = "conv3d_transpose",
               .summary = "3-D transposed convolution: the adjoint of conv3d.",
               .opts = conv3d_transpose_opts,
               .size = sizeof(struct cr_convolve) },
    .rows = CR_ROWS_FIRST,
    CR_CONVOLVE_OP,
    .kernels = &cr_deconvolve_kernels,
    .plan = cr_deconvolve_plan,
    .forward = cr_deconvolve_forward,
    .bprop = "return (kernel(0), kernel(1),\n"
             "        None if c is None else shaped(dy, c, 1))",
    .algebra.linear = CR_X(0) | CR_X(1),
    .backward = cr_deconvolve_backward,
};

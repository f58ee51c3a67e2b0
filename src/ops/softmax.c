/* softmax along an axis: y_c = exp(x_c - m) / sum_j exp(x_j - m),  m = max x
 * backward: dx_c = y_c (dy_c - sum_j dy_j y_j) */
#include "families/softmax.h"

static void softmax_forward(const struct cr_op_ctx *s)
{
    cr_softmax(s, false);
}

static void softmax_backward(const struct cr_op_ctx *s)
{
    cr_softmax_backward(s, false);
}

const struct cr_op cr_op_softmax = {
    .about = { .name = "softmax",
               .summary = "Softmax along an axis.",
               .opts = cr_softmax_opts,
               .size = sizeof(struct cr_softmax) },
    .rows = CR_ROWS_EACH,
    .rows_apart = cr_softmax_rows_apart,
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .inputs = cr_input,
    .saved_for_backward = CR_Y(0),
    .saved_unrounded = true,
    .low = CR_X(0) | CR_Y(0),
    .kernels = &cr_softmax_kernels,
    .plan = cr_softmax_plan,
    .forward = softmax_forward,
    .bprop = "return y * (dy - sum(dy * y, axis, keepdims=True))",
    .backward = softmax_backward,
};

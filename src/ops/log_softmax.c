/* log_softmax along an axis: y_c = x_c - m - ln sum_j exp(x_j - m),  m = max x
 * backward: dx_c = dy_c - exp(y_c) sum_j dy_j */
#include "families/softmax.h"

static void log_softmax_forward(const struct cr_op_ctx *s)
{
    cr_softmax(s, true);
}

static void log_softmax_backward(const struct cr_op_ctx *s)
{
    cr_softmax_backward(s, true);
}

static const char *const log_softmax_inputs[] = { "logits", NULL };

const struct cr_op cr_op_log_softmax = {
    .about = { .name = "log_softmax",
               .summary = "Log-softmax along an axis.",
               .opts = cr_softmax_opts,
               .size = sizeof(struct cr_softmax) },
    .rows = CR_ROWS_EACH,
    .rows_apart = cr_softmax_rows_apart,
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .inputs = log_softmax_inputs,
    .saved_for_backward = CR_Y(0),
    .low = CR_X(0) | CR_Y(0),
    .kernels = &cr_log_softmax_kernels,
    .plan = cr_softmax_plan,
    .forward = log_softmax_forward,
    .bprop = "return dy - exp(y) * sum(dy, axis, keepdims=True)",
    .backward = log_softmax_backward,
};

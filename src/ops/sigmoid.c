/* sigmoid: y = 1 / (1 + exp(-x));  dx = dy y (1 - y) */
#include "families/pointwise.h"

static void sigmoid_map(CR_UNUSED const void *attr, int64_t n, const cr_real *x,
                        cr_real *y)
{
    cr_exp_kernel()->sigmoid(n, x, y);
}

CR_INLINE cr_real sigmoid_dx(CR_UNUSED const void *o, cr_real v, cr_real g)
{
    return g * v * (1 - v);
}

CR_POINTWISE_GRAD(sigmoid, void, y)
CR_POINTWISE_STEPS(sigmoid, 0.4, 0.3)

const struct cr_op cr_op_sigmoid = {
    .about = { .name = "sigmoid", .summary = "Sigmoid: 1 / (1 + exp(-x))." },
    .rows = CR_ROWS_ALIGN,
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .inputs = cr_input,
    .algebra = { .kind = CR_ELEMENTWISE,
                 .map = sigmoid_map,
                 .map_grad = sigmoid_map_grad },
    .low = CR_X(0) | CR_Y(0),
    .saved_for_backward = CR_Y(0),
    .kernels = &cr_pointwise_kernels,
    .plan = cr_pointwise_plan,
    .forward = sigmoid_forward,
    .bprop = "return dy * y * (1 - y)",
    .backward = sigmoid_backward,
};

/* sigmoid: y = 1 / (1 + exp(-x));  dx = dy y (1 - y) */
#include "families/pointwise.h"

CR_INLINE cr_real sigmoid_y(CR_UNUSED const void *o, cr_real v)
{
    return cr_sigmoid(v);
}

CR_INLINE cr_real sigmoid_dx(CR_UNUSED const void *o, cr_real v, cr_real g)
{
    return g * v * (1 - v);
}

CR_POINTWISE(sigmoid, void, y, 1, 0.5)

const struct cr_op cr_op_sigmoid = {
    .about = { .name = "sigmoid", .summary = "Sigmoid: 1 / (1 + exp(-x))." },
    .rows = CR_ROWS_ALIGN,
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .inputs = cr_input,
    .algebra = { .kind = CR_ELEMENTWISE, .map = sigmoid_map,
                 .map_grad = sigmoid_map_grad },
    .low = CR_X(0) | CR_Y(0),
    .saved_for_backward = CR_Y(0),
    .plan = cr_pointwise_plan,
    .forward = sigmoid_forward,
    .bprop = "return dy * y * (1 - y)",
    .backward = sigmoid_backward,
};

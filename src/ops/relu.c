/* relu: y = max(x, 0);  dx = dy where y > 0.  NaN is passed on. */
#include "families/pointwise.h"

CR_INLINE cr_real relu_y(CR_UNUSED const void *o, cr_real v)
{
    return v < 0 ? 0 : v;
}

CR_INLINE cr_real relu_dx(CR_UNUSED const void *o, cr_real v, cr_real g)
{
    return v <= 0 ? 0 : g;
}

CR_POINTWISE(relu, void, y, 0.3, 0.5)

const struct cr_op cr_op_relu = {
    .about = { .name = "relu", .summary = "ReLU: max(x, 0)." },
    .rows = CR_ROWS_ALIGN,
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .inputs = cr_input,
    .algebra = { .kind = CR_ELEMENTWISE, .map = relu_map, .act = CR_ACT_RELU },
    .low = CR_X(0) | CR_Y(0),
    .saved_for_backward = CR_Y(0),
    .exact = true,
    .plan = cr_pointwise_plan,
    .forward = relu_forward,
    .bprop = "return where(y > 0, dy, 0.0)",
    .backward = relu_backward,
};

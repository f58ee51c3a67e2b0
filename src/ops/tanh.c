/* tanh: y = tanh(x);  dx = dy (1 - y^2) */
#include "families/pointwise.h"

static void tanh_map(CR_UNUSED const void *attr, int64_t n, const cr_real *x,
                     cr_real *y)
{
    cr_exp_kernel()->tanh(n, x, y);
}

CR_INLINE cr_real tanh_dx(CR_UNUSED const void *o, cr_real v, cr_real g)
{
    return g * (1 - v * v);
}

CR_POINTWISE_GRAD(tanh, void, y)
CR_POINTWISE_STEPS(tanh, 0.4, 0.3)

const struct cr_op cr_op_tanh = {
    .about = { .name = "tanh", .summary = "Hyperbolic tangent." },
    .rows = CR_ROWS_ALIGN,
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .inputs = cr_input,
    .algebra = { .kind = CR_ELEMENTWISE,
                 .map = tanh_map,
                 .map_grad = tanh_map_grad },
    .low = CR_X(0) | CR_Y(0),
    .saved_for_backward = CR_Y(0),
    .kernels = &cr_pointwise_kernels,
    .plan = cr_pointwise_plan,
    .forward = tanh_forward,
    .bprop = "return dy * (1 - y * y)",
    .backward = tanh_backward,
};

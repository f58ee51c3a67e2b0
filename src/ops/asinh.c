/* asinh: y = arsinh a;  da = dy / sqrt(a^2 + 1) */
#include "families/broadcast.h"

CR_LOOP1_AS(CR_CLONES_WIDE, asinh_real, cr_real, cr_real, cr_asinh(a))
CR_GRAD1_AS(CR_CLONES_WIDE, asinh_grad, g / cr_sqrt(a * a + 1))

CR_BROADCAST(asinh, 1, .real = asinh_real, .grad = asinh_grad, .cost = 10)
CR_BROADCAST_BACKWARD(asinh)

const struct cr_op cr_op_asinh = {
    .about = { .name = "asinh",
               .summary = "Inverse hyperbolic sine of each element." },
    CR_BROADCAST_OP(asinh, 1, cr_input),
    .saved_for_backward = CR_X(0),
    .backward = asinh_backward,
};

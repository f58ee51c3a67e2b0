/* rsqrt: y = 1 / sqrt(a);  da = -dy y^3 / 2 */
#include "families/broadcast.h"

CR_LOOP1(rsqrt_real, cr_real, cr_real, 1 / cr_sqrt(a))
CR_GRAD1_Y(rsqrt_grad, (cr_real)-0.5 * g * y * y * y)

CR_BROADCAST(rsqrt, 1, .real = rsqrt_real, .grad = rsqrt_grad, .cost = 1)
CR_BROADCAST_BACKWARD(rsqrt)

const struct cr_op cr_op_rsqrt = {
    .about = { .name = "rsqrt",
               .summary = "Reciprocal square root of each element." },
    CR_BROADCAST_OP(rsqrt, 1, cr_input),
    .saved_for_backward = CR_Y(0),
    .bprop = "return dy * -0.5 * y / a",
    .backward = rsqrt_backward,
};

/* atanh: y = artanh a;  da = dy / (1 - a^2) */
#include "families/broadcast.h"

CR_LOOP1_AS(CR_CLONES_WIDE, atanh_real, cr_real, cr_real, cr_atanh(a))
CR_GRAD1_AS(CR_CLONES_WIDE, atanh_grad, g / ((1 - a) * (1 + a)))

CR_BROADCAST(atanh, 1, .real = atanh_real, .grad = atanh_grad, .cost = 10)
CR_BROADCAST_BACKWARD(atanh)

const struct cr_op cr_op_atanh = {
    .about = { .name = "atanh",
               .summary = "Inverse hyperbolic tangent of each element." },
    CR_BROADCAST_OP(atanh, 1, cr_input),
    .saved_for_backward = CR_X(0),
    .backward = atanh_backward,
};

/* atan: y = arctan a;  da = dy / (1 + a^2) */
#include "families/broadcast.h"

CR_LOOP1_AS(CR_CLONES_WIDE, atan_real, cr_real, cr_real, cr_atan(a))
CR_GRAD1_AS(CR_CLONES_WIDE, atan_grad, g / (1 + a * a))

CR_BROADCAST(atan, 1, .real = atan_real, .grad = atan_grad, .cost = 10)
CR_BROADCAST_BACKWARD(atan)

const struct cr_op cr_op_atan = {
    .about = { .name = "atan", .summary = "Arc tangent of each element." },
    CR_BROADCAST_OP(atan, 1, cr_input),
    .saved_for_backward = CR_X(0),
    .backward = atan_backward,
};

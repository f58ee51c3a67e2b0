/* acos: y = arccos a;  da = -dy / sqrt(1 - a^2) */
#include "families/broadcast.h"

CR_LOOP1_AS(CR_CLONES_WIDE, acos_real, cr_real, cr_real, cr_acos(a))
CR_GRAD1_AS(CR_CLONES_WIDE, acos_grad, -g / cr_sqrt((1 - a) * (1 + a)))

CR_BROADCAST(acos, 1, .real = acos_real, .grad = acos_grad, .cost = 10)
CR_BROADCAST_BACKWARD(acos)

const struct cr_op cr_op_acos = {
    .about = { .name = "acos", .summary = "Arc cosine of each element." },
    CR_BROADCAST_OP(acos, 1, cr_input),
    .saved_for_backward = CR_X(0),
    .backward = acos_backward,
};

/* expm1: y = exp a - 1;  da = dy exp a */
#include "families/broadcast.h"

CR_LOOP1_AS(CR_CLONES_WIDE, expm1_real, cr_real, cr_real, cr_expm1(a))
CR_GRAD1_AS(CR_CLONES_WIDE, expm1_grad, g *cr_exp(a))

CR_BROADCAST(expm1, 1, .real = expm1_real, .grad = expm1_grad, .cost = 10)
CR_BROADCAST_BACKWARD(expm1)

const struct cr_op cr_op_expm1 = {
    .about = { .name = "expm1", .summary = "exp(x) - 1 of each element." },
    CR_BROADCAST_OP(expm1, 1, cr_input),
    .saved_for_backward = CR_X(0),
    .backward = expm1_backward,
};

/* exp: y = exp(a);  da = dy y */
#include "families/broadcast.h"

CR_LOOP1_AS(CR_CLONES_WIDE, exp_real, cr_real, cr_real, cr_exp(a))
CR_GRAD1_Y(exp_grad, g *y)

CR_BROADCAST(exp, 1, .real = exp_real, .grad = exp_grad, .cost = 5)
CR_BROADCAST_BACKWARD(exp)

const struct cr_op cr_op_exp = {
    .about = { .name = "exp", .summary = "Exponential of each element." },
    CR_BROADCAST_OP(exp, 1, cr_input),
    .saved_for_backward = CR_Y(0),
    .bprop = "return dy * y",
    .backward = exp_backward,
};

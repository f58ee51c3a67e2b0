/* log1p: y = ln(1 + a);  da = dy / (1 + a) */
#include "families/broadcast.h"

CR_LOOP1_AS(CR_CLONES_WIDE, log1p_real, cr_real, cr_real, cr_log1p(a))
CR_GRAD1(log1p_grad, g / (1 + a))

CR_BROADCAST(log1p, 1, .real = log1p_real, .grad = log1p_grad, .cost = 8)
CR_BROADCAST_BACKWARD(log1p)

const struct cr_op cr_op_log1p = {
    .about = { .name = "log1p", .summary = "log(1 + x) of each element." },
    CR_BROADCAST_OP(log1p, 1, cr_input),
    .saved_for_backward = CR_X(0),
    .bprop = "return dy / (1 + a)",
    .backward = log1p_backward,
};

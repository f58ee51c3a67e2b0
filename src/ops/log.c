/* log: y = ln a;  da = dy / a */
#include "families/broadcast.h"

CR_LOOP1_AS(CR_CLONES_WIDE, log_real, cr_real, cr_real, cr_log(a))
CR_GRAD1(log_grad, g / a)

CR_BROADCAST(log, 1, .real = log_real, .grad = log_grad, .cost = 5)
CR_BROADCAST_BACKWARD(log)

const struct cr_op cr_op_log = {
    .about = { .name = "log", .summary = "Natural logarithm of each element." },
    CR_BROADCAST_OP(log, 1, cr_input),
    .saved_for_backward = CR_X(0),
    .bprop = "return dy / a",
    .backward = log_backward,
};

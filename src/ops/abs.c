/* abs: y = |a|;  da = dy sign(a) */
#include "families/broadcast.h"

CR_LOOP1(abs_real, cr_real, cr_real, cr_abs(a))
CR_LOOP1(abs_whole, int32_t, int32_t, a < 0 ? CR_WRAP(-, 0, a) : a)
CR_GRAD1(abs_grad, a > 0 ? g : a < 0 ? -g : 0)

CR_BROADCAST(abs, 1, .real = abs_real, .integer = abs_whole, .grad = abs_grad,
             .cost = 0.5)
CR_BROADCAST_BACKWARD(abs)

const struct cr_op cr_op_abs = {
    .about = { .name = "abs", .summary = "Absolute value of each element." },
    CR_BROADCAST_OP(abs, 1, cr_input),
    .exact = true,
    .saved_for_backward = CR_X(0),
    .bprop = "return dy * sign(a)",
    .backward = abs_backward,
};

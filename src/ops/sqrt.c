/* sqrt: y = sqrt(a);  da = dy / (2 y) */
#include "families/broadcast.h"

CR_LOOP1(sqrt_real, cr_real, cr_real, cr_sqrt(a))
CR_GRAD1_Y(sqrt_grad, g / (2 * y))

CR_BROADCAST(sqrt, 1, .real = sqrt_real, .grad = sqrt_grad, .cost = 1)
CR_BROADCAST_BACKWARD(sqrt)

const struct cr_op cr_op_sqrt = {
    .about = { .name = "sqrt", .summary = "Square root of each element." },
    CR_BROADCAST_OP(sqrt, 1, cr_input),
    .saved_for_backward = CR_Y(0),
    .bprop = "return dy * 0.5 / y",
    .backward = sqrt_backward,
};

/* cos: y = cos a;  da = -dy sin a */
#include "families/broadcast.h"

CR_LOOP1(cos_real, cr_real, cr_real, cr_cos(a))
CR_GRAD1(cos_grad, -g *cr_sin(a))

CR_BROADCAST(cos, 1, .real = cos_real, .grad = cos_grad, .cost = 8)
CR_BROADCAST_BACKWARD(cos)

const struct cr_op cr_op_cos = {
    .about = { .name = "cos", .summary = "Cosine of each element." },
    CR_BROADCAST_OP(cos, 1, cr_input),
    .saved_for_backward = CR_X(0),
    .bprop = "return -dy * sin(a)",
    .backward = cos_backward,
};

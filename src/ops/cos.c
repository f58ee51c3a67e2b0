/* cos: y = cos a;  da = -dy sin a */
#include "families/angles.h"

CR_ANGLES_LOOP(cos_real, cr_cos_near(a), cr_cos(a))
CR_ANGLES_GRAD(cos_grad, -g *cr_sin_near(a), -g *cr_sin(a))

CR_BROADCAST(cos, 1, .real = cos_real, .grad = cos_grad, .cost = 8)
CR_BROADCAST_BACKWARD(cos)

const struct cr_op cr_op_cos = {
    .about = { .name = "cos", .summary = "Cosine of each element." },
    CR_BROADCAST_OP(cos, 1, cr_input),
    .saved_for_backward = CR_X(0),
    .bprop = "return -dy * sin(a)",
    .backward = cos_backward,
};

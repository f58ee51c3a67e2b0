/* sin: y = sin a;  da = dy cos a */
#include "families/angles.h"

CR_ANGLES_LOOP(sin_real, cr_sin_near(a), cr_sin(a))
CR_ANGLES_GRAD(sin_grad, g *cr_cos_near(a), g *cr_cos(a))

CR_BROADCAST(sin, 1, .real = sin_real, .grad = sin_grad, .cost = 8)
CR_BROADCAST_BACKWARD(sin)

const struct cr_op cr_op_sin = {
    .about = { .name = "sin", .summary = "Sine of each element." },
    CR_BROADCAST_OP(sin, 1, cr_input),
    .saved_for_backward = CR_X(0),
    .bprop = "return dy * cos(a)",
    .backward = sin_backward,
};

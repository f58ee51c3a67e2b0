/* sinh: y = sinh a;  da = dy cosh a */
#include "families/broadcast.h"

CR_LOOP1_AS(CR_CLONES_WIDE, sinh_real, cr_real, cr_real, cr_sinh(a))
CR_GRAD1_AS(CR_CLONES_WIDE, sinh_grad, g *cr_cosh(a))

CR_BROADCAST(sinh, 1, .real = sinh_real, .grad = sinh_grad, .cost = 10)
CR_BROADCAST_BACKWARD(sinh)

const struct cr_op cr_op_sinh = {
    .about = { .name = "sinh", .summary = "Hyperbolic sine of each element." },
    CR_BROADCAST_OP(sinh, 1, cr_input),
    .saved_for_backward = CR_X(0),
    .backward = sinh_backward,
};

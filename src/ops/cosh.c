/* cosh: y = cosh a;  da = dy sinh a */
#include "families/broadcast.h"

CR_LOOP1_AS(CR_CLONES_WIDE, cosh_real, cr_real, cr_real, cr_cosh(a))
CR_GRAD1_AS(CR_CLONES_WIDE, cosh_grad, g *cr_sinh(a))

CR_BROADCAST(cosh, 1, .real = cosh_real, .grad = cosh_grad, .cost = 10)
CR_BROADCAST_BACKWARD(cosh)

const struct cr_op cr_op_cosh = {
    .about = { .name = "cosh",
               .summary = "Hyperbolic cosine of each element." },
    CR_BROADCAST_OP(cosh, 1, cr_input),
    .saved_for_backward = CR_X(0),
    .backward = cosh_backward,
};

/* acosh: y = arcosh a;  da = dy / sqrt(a^2 - 1) */
#include "families/broadcast.h"

CR_LOOP1_AS(CR_CLONES_WIDE, acosh_real, cr_real, cr_real, cr_acosh(a))
CR_GRAD1_AS(CR_CLONES_WIDE, acosh_grad, g / cr_sqrt((a - 1) * (a + 1)))

CR_BROADCAST(acosh, 1, .real = acosh_real, .grad = acosh_grad, .cost = 10)
CR_BROADCAST_BACKWARD(acosh)

const struct cr_op cr_op_acosh = {
    .about = { .name = "acosh",
               .summary = "Inverse hyperbolic cosine of each element." },
    CR_BROADCAST_OP(acosh, 1, cr_input),
    .saved_for_backward = CR_X(0),
    .backward = acosh_backward,
};

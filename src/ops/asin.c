/* asin: y = arcsin a;  da = dy / sqrt(1 - a^2) */
#include "families/broadcast.h"

CR_LOOP1_AS(CR_CLONES_WIDE, asin_real, cr_real, cr_real, cr_asin(a))
CR_GRAD1_AS(CR_CLONES_WIDE, asin_grad, g / cr_sqrt((1 - a) * (1 + a)))

CR_BROADCAST(asin, 1, .real = asin_real, .grad = asin_grad, .cost = 10)
CR_BROADCAST_BACKWARD(asin)

const struct cr_op cr_op_asin = {
    .about = { .name = "asin", .summary = "Arc sine of each element." },
    CR_BROADCAST_OP(asin, 1, cr_input),
    .saved_for_backward = CR_X(0),
    .backward = asin_backward,
};

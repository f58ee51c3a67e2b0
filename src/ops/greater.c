/* greater: y = a > b, bool */
#include "families/broadcast.h"

CR_LOOP2(greater_real, cr_real, unsigned char, a > b)
CR_LOOP2(greater_whole, int32_t, unsigned char, a > b)

CR_BROADCAST(greater, 2, .real = greater_real, .integer = greater_whole,
             .truth = true, .cost = 0.5)

const struct cr_op cr_op_greater = {
    .about = { .name = "greater", .summary = "Elementwise a > b." },
    CR_BROADCAST_OP(greater, 2, cr_inputs2),
};

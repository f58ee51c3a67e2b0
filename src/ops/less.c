/* less: y = a < b, bool */
#include "families/broadcast.h"

CR_LOOP2(less_real, cr_real, unsigned char, a < b)
CR_LOOP2(less_whole, int32_t, unsigned char, a < b)

CR_BROADCAST(less, 2, .real = less_real, .integer = less_whole, .truth = true,
             .cost = 0.5)

const struct cr_op cr_op_less = {
    .about = { .name = "less", .summary = "Elementwise a < b." },
    CR_BROADCAST_OP(less, 2, cr_inputs2),
};

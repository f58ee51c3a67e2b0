/* greater_equal: y = a >= b, bool */
#include "families/broadcast.h"

CR_LOOP2(greater_equal_real, cr_real, unsigned char, a >= b)
CR_LOOP2(greater_equal_whole, int32_t, unsigned char, a >= b)

CR_BROADCAST(greater_equal, 2, .real = greater_equal_real,
             .integer = greater_equal_whole, .truth = true, .cost = 0.5)

const struct cr_op cr_op_greater_equal = {
    .about = { .name = "greater_equal", .summary = "Elementwise a >= b." },
    CR_BROADCAST_OP(greater_equal, 2, cr_inputs2),
};

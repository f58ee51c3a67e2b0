/* equal: y = a == b, bool */
#include "families/broadcast.h"

CR_LOOP2(equal_real, cr_real, unsigned char, a == b)
CR_LOOP2(equal_whole, int32_t, unsigned char, a == b)

CR_BROADCAST(equal, 2, .real = equal_real, .integer = equal_whole,
             .truth = true, .cost = 0.5)

const struct cr_op cr_op_equal = {
    .about = { .name = "equal", .summary = "Elementwise a == b." },
    CR_BROADCAST_OP(equal, 2, cr_inputs2),
};

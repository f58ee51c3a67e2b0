/* not_equal: y = a != b, bool */
#include "families/broadcast.h"

CR_LOOP2(not_equal_real, cr_real, unsigned char, a != b)
CR_LOOP2(not_equal_whole, int32_t, unsigned char, a != b)

CR_BROADCAST(not_equal, 2, .real = not_equal_real, .integer = not_equal_whole,
             .truth = true, .cost = 0.5)

const struct cr_op cr_op_not_equal = {
    .about = { .name = "not_equal", .summary = "Elementwise a != b." },
    CR_BROADCAST_OP(not_equal, 2, cr_inputs2),
};

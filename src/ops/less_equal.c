/* less_equal: y = a <= b, bool */
#include "families/broadcast.h"

CR_LOOP2(less_equal_real, cr_real, unsigned char, a <= b)
CR_LOOP2(less_equal_whole, int32_t, unsigned char, a <= b)

CR_BROADCAST(less_equal, 2, .real = less_equal_real,
             .integer = less_equal_whole, .truth = true, .cost = 0.5)

const struct cr_op cr_op_less_equal = {
    .about = { .name = "less_equal", .summary = "Elementwise a <= b." },
    CR_BROADCAST_OP(less_equal, 2, cr_inputs2),
};

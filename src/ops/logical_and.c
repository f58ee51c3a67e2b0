/* logical_and: y = a & b; nonzero is true */
#include "families/broadcast.h"

CR_LOOP2(logical_and_loop, unsigned char, unsigned char, a & b)

CR_BROADCAST(logical_and, 2, .real = logical_and_loop, .truth = true,
             .masks = CR_X(0) | CR_X(1), .cost = 0.3)

const struct cr_op cr_op_logical_and = {
    .about = { .name = "logical_and",
               .summary =
                   "Elementwise logical and; all values except 0 are true." },
    CR_BROADCAST_OP(logical_and, 2, cr_inputs2),
};

/* logical_or: y = a | b; nonzero is true */
#include "families/broadcast.h"

CR_LOOP2(logical_or_loop, unsigned char, unsigned char, a | b)

CR_BROADCAST(logical_or, 2, .real = logical_or_loop, .truth = true,
             .masks = CR_X(0) | CR_X(1), .cost = 0.3)

const struct cr_op cr_op_logical_or = {
    .about = { .name = "logical_or",
               .summary = "Elementwise logical or; all values except 0 are "
                          "true." },
    CR_BROADCAST_OP(logical_or, 2, cr_inputs2),
};

/* logical_not: y = !a; nonzero is true */
#include "families/broadcast.h"

CR_LOOP1(logical_not_loop, unsigned char, unsigned char, !a)

CR_BROADCAST(logical_not, 1, .real = logical_not_loop, .truth = true,
             .masks = CR_X(0), .cost = 0.3)

const struct cr_op cr_op_logical_not = {
    .about = { .name = "logical_not",
               .summary = "Elementwise logical not; all values except 0 are "
                          "true." },
    CR_BROADCAST_OP(logical_not, 1, cr_input),
};

/* ceil: y = the smallest integer >= a; no gradient */
#include "families/broadcast.h"

CR_LOOP1(ceil_real, cr_real, cr_real, cr_ceil(a))
CR_LOOP1(ceil_whole, int32_t, int32_t, a)

CR_BROADCAST(ceil, 1, .real = ceil_real, .integer = ceil_whole, .cost = 0.5)

const struct cr_op cr_op_ceil = {
    .about = { .name = "ceil", .summary = "Ceiling of each element." },
    CR_BROADCAST_OP(ceil, 1, cr_input),
};

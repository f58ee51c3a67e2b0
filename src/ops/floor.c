/* floor: y = the largest integer <= a; no gradient */
#include "families/broadcast.h"

CR_LOOP1(floor_real, cr_real, cr_real, cr_floor(a))
CR_LOOP1(floor_whole, int32_t, int32_t, a)

CR_BROADCAST(floor, 1, .real = floor_real, .integer = floor_whole, .cost = 0.5)

const struct cr_op cr_op_floor = {
    .about = { .name = "floor", .summary = "Floor of each element." },
    CR_BROADCAST_OP(floor, 1, cr_input),
};

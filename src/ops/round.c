/* round: y = the nearest integer to a, halves to even; no gradient */
#include "families/broadcast.h"

CR_LOOP1(round_real, cr_real, cr_real, cr_rint(a))
CR_LOOP1(round_whole, int32_t, int32_t, a)

CR_BROADCAST(round, 1, .real = round_real, .integer = round_whole, .cost = 0.5)

const struct cr_op cr_op_round = {
    .about = { .name = "round",
               .summary = "Rounds each element to the nearest integer, halves "
                          "to even." },
    CR_BROADCAST_OP(round, 1, cr_input),
};

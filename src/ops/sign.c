/* sign: y = -1, 0 or 1, NaN for NaN; no gradient */
#include "families/broadcast.h"

CR_LOOP1(sign_real, cr_real, cr_real, a > 0 ? 1 : a < 0 ? -1 : a)
CR_LOOP1(sign_whole, int32_t, int32_t, (a > 0) - (a < 0))

CR_BROADCAST(sign, 1, .real = sign_real, .integer = sign_whole, .cost = 0.5)

const struct cr_op cr_op_sign = {
    .about = { .name = "sign", .summary = "Sign of each element: -1, 0 or 1." },
    CR_BROADCAST_OP(sign, 1, cr_input),
};

/* floor_div: y = the largest integer <= a / b; no gradient. For integers it is
 * 0 where b is 0, as in NumPy. */
#include "families/broadcast.h"

static int32_t floor_div_of(int32_t a, int32_t b)
{
    int64_t q;

    if (b == 0)
        return 0;
    q = (int64_t)a / b;
    q -= q * b != a && (a < 0) != (b < 0);
    return CR_WRAP(+, q, 0);
}

CR_LOOP2(floor_div_real, cr_real, cr_real, cr_floor(a / b))
CR_LOOP2(floor_div_whole, int32_t, int32_t, floor_div_of(a, b))

CR_BROADCAST(floor_div, 2, .real = floor_div_real, .integer = floor_div_whole,
             .cost = 1)

const struct cr_op cr_op_floor_div = {
    .about = { .name = "floor_div",
               .summary = "Elementwise quotient of two tensors, rounded "
                          "down." },
    CR_BROADCAST_OP(floor_div, 2, cr_inputs2),
};

/* mod: y = a - b floor(a / b), with the sign of b, like Python's %; da = dy,
 * db = -dy floor(a / b). For integers it is 0 where b is 0, as in NumPy. */
#include "families/broadcast.h"

static cr_real mod_real_of(cr_real a, cr_real b)
{
    cr_real r = cr_fmod(a, b);

    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static int32_t mod_whole_of(int32_t a, int32_t b)
{
    int64_t r = b == 0 ? 0 : (int64_t)a % b;

    return (int32_t)(r != 0 && (r < 0) != (b < 0) ? r + b : r);
}

CR_LOOP2(mod_real, cr_real, cr_real, mod_real_of(a, b))
CR_LOOP2(mod_whole, int32_t, int32_t, mod_whole_of(a, b))
CR_GRAD2(mod_grad, g, -g *cr_floor(a / b))

CR_BROADCAST(mod, 2, .real = mod_real, .integer = mod_whole, .grad = mod_grad,
             .cost = 10)
CR_BROADCAST_BACKWARD(mod)

const struct cr_op cr_op_mod = {
    .about = { .name = "mod",
               .summary = "Elementwise remainder, with the sign of the "
                          "divisor, as Python's %." },
    CR_BROADCAST_OP(mod, 2, cr_inputs2),
    .saved_for_backward = CR_X(0) | CR_X(1),
    .backward = mod_backward,
};

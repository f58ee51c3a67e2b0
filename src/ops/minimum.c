/* minimum: y = the smaller of a and b, NaN if either is;  dy is halved between
 * equal ones */
#include "families/broadcast.h"

CR_LOOP2(minimum_real, cr_real, cr_real, a < b || a != a ? a : b)
CR_LOOP2(minimum_whole, int32_t, int32_t, a < b ? a : b)
CR_GRAD2(minimum_grad,
         a < b    ? g
         : a == b ? g / 2
                  : 0,
         b < a    ? g
         : a == b ? g / 2
                  : 0)

CR_BROADCAST(minimum, 2, .real = minimum_real, .integer = minimum_whole,
             .grad = minimum_grad, .cost = 0.5)
CR_BROADCAST_BACKWARD(minimum)

const struct cr_op cr_op_minimum = {
    .about = { .name = "minimum",
               .summary = "Elementwise minimum of two "
                          "tensors." },
    CR_BROADCAST_OP(minimum, 2, cr_inputs2),
    .exact = true,
    .saved_for_backward = CR_X(0) | CR_X(1),
    .bprop = "half = 0.5 * cast(a == b, float32)\n"
             "return (shaped(dy * (cast(a < b, float32) + half), a),\n"
             "        shaped(dy * (cast(b < a, float32) + half), b))",
    .backward = minimum_backward,
};

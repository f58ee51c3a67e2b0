/* maximum: y = the larger of a and b, NaN if either is;  dy is halved between
 * equal ones */
#include "families/broadcast.h"

CR_LOOP2(maximum_real, cr_real, cr_real, a > b || a != a ? a : b)
CR_LOOP2(maximum_whole, int32_t, int32_t, a > b ? a : b)
CR_GRAD2(maximum_grad,
         a > b    ? g
         : a == b ? g / 2
                  : 0,
         b > a    ? g
         : a == b ? g / 2
                  : 0)

CR_BROADCAST(maximum, 2, .real = maximum_real, .integer = maximum_whole,
             .grad = maximum_grad, .cost = 0.5)
CR_BROADCAST_BACKWARD(maximum)

const struct cr_op cr_op_maximum = {
    .about = { .name = "maximum",
               .summary = "Elementwise maximum of two "
                          "tensors." },
    CR_BROADCAST_OP(maximum, 2, cr_inputs2),
    .exact = true,
    .saved_for_backward = CR_X(0) | CR_X(1),
    .bprop = "half = 0.5 * cast(a == b, float32)\n"
             "return (shaped(dy * (cast(a > b, float32) + half), a),\n"
             "        shaped(dy * (cast(b > a, float32) + half), b))",
    .backward = maximum_backward,
};

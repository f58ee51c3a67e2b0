/* div: y = a / b, real for integers, too;  da = dy / b, db = -dy a / b^2 */
#include "families/broadcast.h"

CR_LOOP2(div_real, cr_real, cr_real, a / b)
CR_GRAD2(div_grad, g / b, -g *a / (b * b))

CR_BROADCAST(div, 2, .real = div_real, .grad = div_grad, .cost = 1)
CR_BROADCAST_BACKWARD(div)

const struct cr_op cr_op_div = {
    .about = { .name = "div",
               .summary = "Elementwise quotient of two "
                          "tensors." },
    CR_BROADCAST_OP_OF(CR_DIVIDES, div, 2, cr_inputs2),
    .saved_for_backward = CR_X(0) | CR_X(1),
    .bprop = "return shaped(dy / b, a), shaped(-dy * y / b, b)",
    .backward = div_backward,
};

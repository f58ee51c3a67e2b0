/* sub: y = a - b;  da = dy, db = -dy */
#include "families/broadcast.h"

CR_LOOP2(sub_real, cr_real, cr_real, a - b)
CR_LOOP2(sub_whole, int32_t, int32_t, CR_WRAP(-, a, b))
CR_GRAD2(sub_grad, g, -g)

CR_BROADCAST(sub, 2, .real = sub_real, .integer = sub_whole, .grad = sub_grad,
             .cost = 0.5)
CR_BROADCAST_BACKWARD(sub)

const struct cr_op cr_op_sub = {
    .about = { .name = "sub",
               .summary = "Elementwise difference of two "
                          "tensors." },
    CR_BROADCAST_OP(sub, 2, cr_inputs2),
    .bprop = "return shaped(dy, a), shaped(-dy, b)",
    .backward = sub_backward,
};

/* add: y = a + b;  da = dy, db = dy */
#include "families/broadcast.h"

CR_LOOP2(add_real, cr_real, cr_real, a + b)
CR_LOOP2(add_whole, int32_t, int32_t, CR_WRAP(+, a, b))
CR_GRAD2(add_grad, g, g)

CR_BROADCAST(add, 2, .real = add_real, .integer = add_whole, .grad = add_grad,
             .cost = 0.5)
CR_BROADCAST_BACKWARD(add)

const struct cr_op cr_op_add = {
    .about = { .name = "add", .summary = "Elementwise sum of two tensors." },
    CR_BROADCAST_OP_OF(CR_ADDS, add, 2, cr_inputs2),
    .bprop = "return shaped(dy, a), shaped(dy, b)",
    .backward = add_backward,
};

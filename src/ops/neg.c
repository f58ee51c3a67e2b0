/* neg: y = -a;  da = -dy */
#include "families/broadcast.h"

CR_LOOP1(neg_real, cr_real, cr_real, -a)
CR_LOOP1(neg_whole, int32_t, int32_t, CR_WRAP(-, 0, a))
CR_GRAD1(neg_grad, -g)

CR_BROADCAST(neg, 1, .real = neg_real, .integer = neg_whole, .grad = neg_grad,
             .cost = 0.3)
CR_BROADCAST_BACKWARD(neg)

const struct cr_op cr_op_neg = {
    .about = { .name = "neg", .summary = "Negative of each element." },
    CR_BROADCAST_OP(neg, 1, cr_input),
    .exact = true,
    .bprop = "return -dy",
    .backward = neg_backward,
};

/* mul: y = a b;  da = dy b, db = dy a */
#include "families/broadcast.h"

CR_LOOP2(mul_real, cr_real, cr_real, (a * b))
CR_LOOP2(mul_whole, int32_t, int32_t, CR_WRAP(*, a, b))
CR_GRAD2(mul_grad, (g * b), (g * a))

CR_BROADCAST(mul, 2, .real = mul_real, .integer = mul_whole, .grad = mul_grad,
             .cost = 0.5)
CR_BROADCAST_BACKWARD(mul)

const struct cr_op cr_op_mul = {
    .about = { .name = "mul",
               .summary = "Elementwise product of two tensors." },
    CR_BROADCAST_OP_OF(CR_MULTIPLIES, mul, 2, cr_inputs2),
    .saved_for_backward = CR_X(0) | CR_X(1),
    .bprop = "return shaped(dy * b, a), shaped(dy * a, b)",
    .backward = mul_backward,
};

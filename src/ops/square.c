/* square: y = a^2;  da = 2 a dy */
#include "families/broadcast.h"

CR_LOOP1(square_real, cr_real, cr_real, (a * a))
CR_LOOP1(square_whole, int32_t, int32_t, CR_WRAP(*, a, a))
CR_GRAD1(square_grad, 2 * a * g)

CR_BROADCAST(square, 1, .real = square_real, .integer = square_whole,
             .grad = square_grad, .cost = 0.5)
CR_BROADCAST_BACKWARD(square)

const struct cr_op cr_op_square = {
    .about = { .name = "square", .summary = "Square of each element." },
    CR_BROADCAST_OP(square, 1, cr_input),
    .saved_for_backward = CR_X(0),
    .bprop = "return dy * 2 * a",
    .backward = square_backward,
};

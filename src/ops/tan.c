/* tan: y = tan a;  da = dy / cos(a)^2 */
#include "families/broadcast.h"

CR_LOOP1(tan_real, cr_real, cr_real, cr_tan(a))
CR_GRAD1(tan_grad, g / (cr_cos(a) * cr_cos(a)))

CR_BROADCAST(tan, 1, .real = tan_real, .grad = tan_grad, .cost = 10)
CR_BROADCAST_BACKWARD(tan)

const struct cr_op cr_op_tan = {
    .about = { .name = "tan", .summary = "Tangent of each element." },
    CR_BROADCAST_OP(tan, 1, cr_input),
    .saved_for_backward = CR_X(0),
    .backward = tan_backward,
};

/* tan: y = tan a;  da = dy (1 + y^2) */
#include "families/angles.h"

CR_ANGLES_LOOP(tan_real, cr_tan_near(a), cr_tan(a))
CR_GRAD1_Y(tan_grad, g *(1 + y * y))

CR_BROADCAST(tan, 1, .real = tan_real, .grad = tan_grad, .cost = 10)
CR_BROADCAST_BACKWARD(tan)

const struct cr_op cr_op_tan = {
    .about = { .name = "tan", .summary = "Tangent of each element." },
    CR_BROADCAST_OP(tan, 1, cr_input),
    .saved_for_backward = CR_Y(0),
    .backward = tan_backward,
};

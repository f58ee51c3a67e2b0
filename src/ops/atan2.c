/* atan2: the angle of (b, a), y = arctan(a / b) in its quadrant;
 * da = dy b / (a^2 + b^2), db = -dy a / (a^2 + b^2) */
#include "families/broadcast.h"

CR_LOOP2_AS(CR_CLONES_WIDE, atan2_real, cr_real, cr_real, cr_atan2(a, b))
CR_GRAD2_AS(CR_CLONES_WIDE, atan2_grad, g *b / (a * a + b * b),
            -g *a / (a * a + b * b))

CR_BROADCAST(atan2, 2, .real = atan2_real, .grad = atan2_grad, .cost = 12)
CR_BROADCAST_BACKWARD(atan2)

const struct cr_op cr_op_atan2 = {
    .about = { .name = "atan2",
               .summary = "Angle of the point (other, input), from -pi to "
                          "pi." },
    CR_BROADCAST_OP(atan2, 2, cr_inputs2),
    .saved_for_backward = CR_X(0) | CR_X(1),
    .backward = atan2_backward,
};

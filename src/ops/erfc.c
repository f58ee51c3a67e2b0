/* erfc: y = 1 - erf a;  da = -2 / sqrt(pi) exp(-a^2) dy */
#include "families/broadcast.h"

CR_LOOP1_AS(CR_CLONES_WIDE, erfc_real, cr_real, cr_real, cr_erfc(a))
CR_GRAD1_AS(CR_CLONES_WIDE, erfc_grad,
            -(cr_real)1.12837916709551257390 * g * cr_exp(-a * a))

CR_BROADCAST(erfc, 1, .real = erfc_real, .grad = erfc_grad, .cost = 10)
CR_BROADCAST_BACKWARD(erfc)

const struct cr_op cr_op_erfc = {
    .about = { .name = "erfc",
               .summary = "Complementary error function of each element." },
    CR_BROADCAST_OP(erfc, 1, cr_input),
    .saved_for_backward = CR_X(0),
    .backward = erfc_backward,
};

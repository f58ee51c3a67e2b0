/* erf: y = erf(a);  da = dy 2 / sqrt(pi) exp(-a^2) */
#include "families/broadcast.h"

#define TWO_SQRT_PI ((cr_real)1.12837916709551257390)

CR_LOOP1_AS(CR_CLONES_WIDE, erf_real, cr_real, cr_real, cr_erf(a))
CR_GRAD1_AS(CR_CLONES_WIDE, erf_grad, g *TWO_SQRT_PI *cr_exp(-a *a))

CR_BROADCAST(erf, 1, .real = erf_real, .grad = erf_grad, .cost = 10)
CR_BROADCAST_BACKWARD(erf)

const struct cr_op cr_op_erf = {
    .about = { .name = "erf", .summary = "Error function of each element." },
    CR_BROADCAST_OP(erf, 1, cr_input),
    .saved_for_backward = CR_X(0),
    .bprop = "return dy * 1.1283791670955126 * exp(-a * a)",
    .backward = erf_backward,
};

/* LogSigmoid: y = log(1 / (1 + exp(-x)));  dx = dy / (1 + exp(x)). */
#include "families/pointwise.h"
#include "graph/cell.h"

/* 1 / (1 + exp(x)), without overflow for any sign of x. */
CR_INLINE cr_real log_sigmoid_slope(cr_real x)
{
    cr_real e = cr_exp(-cr_abs(x));

    return (x < 0 ? 1 : e) / (1 + e);
}

CR_INLINE cr_real log_sigmoid_y(CR_UNUSED const void *o, cr_real v)
{
    return (v < 0 ? v : 0) - cr_log1p(cr_exp(-cr_abs(v)));
}

CR_INLINE cr_real log_sigmoid_dx(CR_UNUSED const void *o, cr_real v, cr_real g)
{
    return g * log_sigmoid_slope(v);
}

CR_POINTWISE_CELL(log_sigmoid, void, x, 10, 6,
                  .bprop = "return dy * sigmoid(-a)")

const struct cr_cell cr_cell_log_sigmoid = {
    .about = {
        .name = "LogSigmoid",
        .summary = "Log-sigmoid: log(1 / (1 + exp(-x))).",
        .detail = "Any shape.",
        .example = "network: [Flatten, {Dense: [784, 10]}, LogSigmoid]\n",
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .activation = "logsigmoid",
    .build = log_sigmoid_build,
};

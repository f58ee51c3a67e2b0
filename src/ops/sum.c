/* sum: y = the sum of x along axes;  dx = dy */
#include "families/reduction.h"

CR_REDUCE(sum, .reducer = &cr_reducer_sum, .cost = 0.3)
CR_REDUCE_BACKWARD(sum, 0.3, g[j])

const struct cr_op cr_op_sum = {
    CR_REDUCE_OP("sum", "Sum along axes."),
    .int_inputs = CR_X(0),
    .plan = cr_reduce_attr_plan,
    .forward = sum_forward,
    .algebra.linear = CR_X(0),
    .backward = sum_backward,
};

/* mean: y = the mean of x along axes;  dx = dy / n */
#include "families/reduction.h"

static bool mean_plan(struct cr_op_plan *p)
{
    bool ok = cr_reduce_attr_plan(p);

    p->out[0].type = CR_REAL;
    return ok;
}

static double mean_finish(const void *attr, double sum, double n)
{
    (void)attr;
    return sum / n;
}

CR_REDUCE(mean, .reducer = &cr_reducer_sum, .finish = mean_finish, .cost = 0.3)
CR_REDUCE_BACKWARD(mean, 0.3, g[j] * (cr_real)(1 / count))

const struct cr_op cr_op_mean = {
    CR_REDUCE_OP("mean", "Mean along axes."),
    .int_inputs = CR_X(0),
    .plan = mean_plan,
    .forward = mean_forward,
    .algebra.linear = CR_X(0),
    .backward = mean_backward,
};

/* any: y = whether any element along axes is true; nonzero is true */
#include "families/reduction.h"

static double any_one(double sum, double v)
{
    return sum != 0 || v != 0;
}

static const struct cr_reducer any_truth = { .start = 0, .one = any_one };

CR_REDUCE(any, .reducer = &any_truth, .cost = 2)

static bool any_plan(struct cr_op_plan *p)
{
    bool ok = cr_reduce_attr_plan(p);

    p->out[0].type = CR_BOOL;
    return ok;
}

const struct cr_op cr_op_any = {
    CR_REDUCE_OP("any", "Logical or along axes: whether any element is true."),
    .int_inputs = CR_X(0),
    .plan = any_plan,
    .forward = any_forward,
};

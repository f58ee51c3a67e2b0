/* all: y = whether all elements along axes are true; nonzero is true */
#include "families/reduction.h"

static double all_one(double sum, double v)
{
    return sum != 0 && v != 0;
}

static const struct cr_reducer all_truth = { .start = 1, .one = all_one };

CR_REDUCE(all, .reducer = &all_truth, .cost = 2)

static bool all_plan(struct cr_op_plan *p)
{
    bool ok = cr_reduce_attr_plan(p);

    p->out[0].type = CR_BOOL;
    return ok;
}

const struct cr_op cr_op_all = {
    CR_REDUCE_OP("all", "Logical and along axes: whether all elements are "
                        "true."),
    .int_inputs = CR_X(0),
    .plan = all_plan,
    .forward = all_forward,
};

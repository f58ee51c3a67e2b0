/* stop_gradient: y = x, without a gradient. */
#include "families/data_movement.h"

static bool stop_gradient_plan(struct cr_op_plan *p)
{
    p->out[0] = p->in[0];
    p->same = true;
    return true;
}

static const char *const stop_gradient_inputs[] = { "value", NULL };

const struct cr_op cr_op_stop_gradient = {
    .about = { .name = "stop_gradient",
               .summary = "Returns the input; its gradient is 0." },
    .rows = CR_ROWS_ALIGN,
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .inputs = stop_gradient_inputs,
    .int_inputs = CR_X(0),
    .algebra = { .kind = CR_ELEMENTWISE },
    .exact = true,
    .plan = stop_gradient_plan,
    .forward = cr_view_forward,
};

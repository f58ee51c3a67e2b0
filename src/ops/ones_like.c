/* ones_like: a tensor of ones with the shape and type of the input */
#include "families/data_movement.h"

static void ones_like_forward(const struct cr_op_ctx *s)
{
    cr_data_move_fill(&s->out[0], 1, s->y[0]);
}

const struct cr_op cr_op_ones_like = {
    .about = { .name = "ones_like",
               .summary = "A tensor of ones of the input's shape." },
    .rows = CR_ROWS_ALIGN,
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .inputs = cr_input,
    .int_inputs = CR_X(0),
    .plan = cr_like_plan,
    .forward = ones_like_forward,
};

/*
 * reorder: the same values in the other memory format. Plans insert it between
 * ops that need channels last and ops that need row-major tensors; no cell
 * emits it.
 */
#include "families/data_movement.h"

static bool reorder_plan(struct cr_op_plan *p)
{
    const struct cr_spec *x = &p->in[0];
    int64_t space = 1;
    int i;

    for (i = 2; i < x->rank; i++)
        space *= x->dim[i];
    p->out[0] = *x;
    p->out[0].layout =
        x->layout == CR_CHANNELS_LAST ? CR_ROW_MAJOR : CR_CHANNELS_LAST;
    p->same = x->rank < 2 || x->dim[1] == 1 || space == 1;
    return true;
}

static struct cr_data_move reorder_move(const struct cr_op_ctx *s)
{
    int64_t step[CR_RANK_MAX];
    struct cr_data_move m;

    cr_data_move_dense(&s->in[0], step);
    cr_data_move_open(&m, &s->out[0], step, 0);
    return m;
}

CR_MOVE(reorder, cr_data_move_scatter_add)

static const struct cr_op_kernels reorder_kernels = { .last = cr_last_too };

const struct cr_op cr_op_reorder = {
    .about = { .name = "reorder",
               .internal = true,
               .summary = "Converts between channels first and channels "
                          "last." },
    .rows = CR_ROWS_FIRST,
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .kernels = &reorder_kernels,
    .int_inputs = CR_X(0),
    .exact = true,
    .low = CR_X(0) | CR_Y(0),
    .plan = reorder_plan,
    .forward = reorder_forward,
    .backward = reorder_backward,
};

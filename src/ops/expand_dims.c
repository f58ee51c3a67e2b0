/* expand_dims: inserts an axis of length 1. */
#include "families/axis.h"
#include "families/data_movement.h"

struct expand_dims {
    int64_t axis;
};

static const struct cr_opt expand_dims_opts[] = {
    CR_INT(struct expand_dims, axis, -CR_RANK_MAX, CR_RANK_MAX - 1,
           "Position of the new axis in the output."),
    { 0 },
};

static bool expand_dims_plan(struct cr_op_plan *p)
{
    int64_t axis = ((const struct expand_dims *)p->attr)->axis;
    struct cr_spec *y = &p->out[0];
    int i, at;

    *y = p->in[0];
    if (y->rank == CR_RANK_MAX)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "input: found %s, which has the maximum of %d "
                        "dimensions",
                        cr_diag_format(p->arena, p->in), CR_RANK_MAX);
    if (!cr_axis_check_new(p, p->in, axis, &at))
        return false;
    y->rank++;
    for (i = y->rank - 1; i > at; i--)
        y->dim[i] = y->dim[i - 1];
    y->dim[at] = 1;
    p->same = true;
    return true;
}

const struct cr_op cr_op_expand_dims = {
    .about = { .name = "expand_dims",
               .summary = "Inserts an axis of length 1.",
               .opts = expand_dims_opts,
               .size = sizeof(struct expand_dims) },
    .rows = CR_ROWS_VIEW,
    .min_inputs = 1,
    .max_inputs = 1,
    .inputs = cr_input,
    CR_VIEW_OP,
    .exact = true,
    .plan = expand_dims_plan,
};

/* stack: joins tensors of one shape along a new axis */
#include "families/axis.h"
#include "families/concat_stack.h"

#include <string.h>

static bool stack_plan(struct cr_op_plan *p)
{
    struct cr_spec *y = &p->out[0];
    int i, k, axis;

    *y = p->in[0];
    for (k = 1; k < p->n_in; k++)
        if (p->in[k].rank != y->rank || cr_count(&p->in[k]) != cr_count(y) ||
            memcmp(p->in[k].dim, y->dim, (size_t)y->rank * sizeof y->dim[0]) !=
                0)
            return cr_error(p->diag, p->pos, CR_E_SHAPE,
                            "inputs: found %s and %s, expected equal shapes",
                            cr_diag_format(p->arena, y),
                            cr_diag_format(p->arena, &p->in[k]));
    if (y->rank == CR_RANK_MAX)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "inputs: found %s, which have the maximum of %d "
                        "dimensions",
                        cr_diag_format(p->arena, y), CR_RANK_MAX);
    if (!cr_axis_check_new(p, p->in, cr_concat_axis(p->attr), &axis))
        return false;
    y->rank++;
    for (i = y->rank - 1; i > axis; i--)
        y->dim[i] = y->dim[i - 1];
    y->dim[axis] = p->n_in;
    return cr_concat_types(p);
}

/* Maps input k to its part of the result. */
static struct cr_data_move stack_move(const struct cr_op_ctx *s, int k)
{
    int64_t of[CR_RANK_MAX], step[CR_RANK_MAX];
    int i, axis = (int)cr_concat_axis(s->attr);
    struct cr_data_move m;

    axis += axis < 0 ? s->out[0].rank : 0;
    cr_data_move_dense(&s->out[0], of);
    for (i = 0; i < s->in[k].rank; i++)
        step[i] = of[i + (i >= axis)];
    cr_data_move_open(&m, &s->in[k], step, k * of[axis]);
    return m;
}

CR_CONCAT(stack)

const struct cr_op cr_op_stack = {
    .about = { .name = "stack",
               .summary = "Stacks tensors of the same shape along a new axis.",
               .opts = cr_concat_opts,
               .size = sizeof(struct cr_concat) },
    .rows = CR_ROWS_EACH,
    CR_CONCAT_OP(stack),
};

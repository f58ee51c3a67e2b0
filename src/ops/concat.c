/* concat: tensors joined along an axis */
#include "families/axis.h"
#include "families/concat_stack.h"

static bool concat_plan(struct cr_op_plan *p)
{
    struct cr_spec *y = &p->out[0];
    int i, k, axis;

    *y = p->in[0];
    if (!cr_axis_check(p, y, cr_concat_axis(p->attr), &axis))
        return false;
    for (k = 1; k < p->n_in; k++) {
        const struct cr_spec *x = &p->in[k];
        bool fits = x->rank == y->rank;

        for (i = 0; i < y->rank && fits; i++)
            fits = i == axis || x->dim[i] == y->dim[i];
        if (!fits)
            return cr_error(p->diag, p->pos, CR_E_SHAPE,
                            "inputs: found %s and %s, expected the same shape "
                            "except along axis %d",
                            cr_diag_format(p->arena, &p->in[0]),
                            cr_diag_format(p->arena, x), axis);
        y->dim[axis] += x->dim[axis];
    }
    return cr_concat_types(p);
}

/* Maps input k to its part of the result. */
static struct cr_data_move concat_move(const struct cr_op_ctx *s, int k)
{
    int64_t step[CR_RANK_MAX], at = 0;
    int i, axis = (int)cr_concat_axis(s->attr);
    struct cr_data_move m;

    axis += axis < 0 ? s->out[0].rank : 0;
    cr_data_move_dense(&s->out[0], step);
    for (i = 0; i < k; i++)
        at += s->in[i].dim[axis] * step[axis];
    cr_data_move_open(&m, &s->in[k], step, at);
    return m;
}

CR_CONCAT(concat)

/* As most of the elements come. */
static enum cr_channels_last concat_last(const struct cr_op_plan *p)
{
    int64_t last = 0, all = 0;
    int k;

    for (k = 0; k < p->n_in; k++) {
        all += cr_count(&p->in[k]);
        if (p->in[k].layout == CR_CHANNELS_LAST)
            last += cr_count(&p->in[k]);
    }
    return 2 * last > all ? CR_LAST_BEST : CR_LAST_NEVER;
}

static const struct cr_op_kernels concat_kernels = { .last = concat_last };

const struct cr_op cr_op_concat = {
    .about = { .name = "concat",
               .summary = "Concatenates tensors along an axis.",
               .opts = cr_concat_opts,
               .size = sizeof(struct cr_concat) },
    .rows = CR_ROWS_EACH,
    CR_CONCAT_OP(concat),
    .kernels = &concat_kernels,
};

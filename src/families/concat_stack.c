#include "families/concat_stack.h"

const struct cr_opt cr_concat_opts[] = {
    CR_INT_DEFAULT(struct cr_concat, axis, 0, -CR_RANK_MAX, CR_RANK_MAX - 1,
                   "The axis; negative values count from the end."),
    { 0 },
};

const char *const cr_concat_inputs[] = { "tensors", NULL };

int64_t cr_concat_axis(const void *attr)
{
    return ((const struct cr_concat *)attr)->axis;
}

bool cr_concat_types(struct cr_op_plan *p)
{
    int k;

    for (k = 1; k < p->n_in; k++)
        if (p->in[k].type != p->in[0].type)
            return cr_error(
                p->diag, p->pos, CR_E_DTYPE,
                "inputs have the types %s and %s, expected one type",
                cr_type_name(p->in[0].type), cr_type_name(p->in[k].type));
    return true;
}

void cr_concat_forward(const struct cr_op_ctx *s, cr_concat_move *move)
{
    int k;

    for (k = 0; k < CR_OP_MAX && s->x[k]; k++) {
        struct cr_data_move m = move(s, k);

        cr_data_move_scatter(&m, s->in[k].type, s->x[k], s->y[0]);
    }
}

void cr_concat_backward(const struct cr_op_ctx *s, cr_concat_move *move)
{
    int k;

    for (k = 0; k < CR_OP_MAX; k++)
        if (s->dx[k]) {
            struct cr_data_move m = move(s, k);

            cr_data_move_gather_add(&m, s->dy[0], s->dx[k], s->accumulate[k]);
        }
}

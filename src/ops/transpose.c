/* transpose: axis k of the result is axis perm[k] of the input; without a
 * permutation the order of the axes is reversed. */
#include "families/data_movement.h"
#include "graph/op_attrs.h"

static const struct cr_opt transpose_opts[] = {
    CR_INTS_OPTIONAL(struct cr_transpose, input_perm, -CR_RANK_MAX,
                     CR_RANK_MAX - 1,
                     "Axis of the input for each axis of the output."),
    { 0 },
};

static int transpose_axis(const struct cr_spec *x, const void *attr, int k)
{
    const struct cr_ints *perm =
        &((const struct cr_transpose *)attr)->input_perm;
    int64_t axis = perm->n > 0 ? perm->v[k] : x->rank - 1 - k;

    return (int)(axis < 0 ? axis + x->rank : axis);
}

static bool transpose_plan(struct cr_op_plan *p)
{
    const struct cr_ints *perm =
        &((const struct cr_transpose *)p->attr)->input_perm;
    const struct cr_spec *x = &p->in[0];
    bool seen[CR_RANK_MAX] = { false }, good;
    int k, axis;

    good = perm->n == 0 || perm->n == x->rank;
    p->out[0] = *x;
    for (k = 0; k < x->rank && good; k++) {
        axis = transpose_axis(x, p->attr, k);
        good = axis >= 0 && axis < x->rank && !seen[axis];
        if (good) {
            seen[axis] = true;
            p->out[0].dim[k] = x->dim[axis];
        }
    }
    if (good)
        return true;
    cr_error(p->diag, p->pos, CR_E_SHAPE,
             "input_perm: expected each of the %d axes of input %s once",
             x->rank, cr_diag_format(p->arena, x));
    if (perm->n == 2)
        cr_hint(p->diag, "write swapaxes to exchange two axes");
    return false;
}

static struct cr_data_move transpose_move(const struct cr_op_ctx *s)
{
    int64_t of[CR_RANK_MAX], step[CR_RANK_MAX];
    struct cr_data_move m;
    int k;

    cr_data_move_dense(&s->in[0], of);
    for (k = 0; k < s->in[0].rank; k++)
        step[k] = of[transpose_axis(&s->in[0], s->attr, k)];
    cr_data_move_open(&m, &s->out[0], step, 0);
    return m;
}

CR_MOVE(transpose, cr_data_move_scatter_add)

const struct cr_op cr_op_transpose = {
    .about = { .name = "transpose",
               .summary = "Permutes the axes.",
               .opts = transpose_opts,
               .size = sizeof(struct cr_transpose) },
    .rows = CR_ROWS_EACH,
    CR_MOVE_OP,
    .low = CR_X(0) | CR_Y(0),
    .plan = transpose_plan,
    .forward = transpose_forward,
    .algebra.linear = CR_X(0),
    .backward = transpose_backward,
};

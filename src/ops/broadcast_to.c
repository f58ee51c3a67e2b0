/* broadcast_to: broadcasts the tensor to a larger shape, as in NumPy; dx = sum
 * of dy over broadcast axes */
#include "families/data_movement.h"
#include "graph/op_attrs.h"

static const struct cr_opt broadcast_to_opts[] = {
    CR_INTS(struct cr_reshape, shape, -1, CR_DIM_MAX,
            "Shape of the output; -1 keeps a dimension."),
    { 0 },
};

static bool broadcast_to_plan(struct cr_op_plan *p)
{
    const struct cr_ints *shape =
        &((const struct cr_reshape *)p->attr)->shape;
    const struct cr_spec *x = &p->in[0];
    struct cr_spec *y = &p->out[0];
    bool fits = shape->n >= x->rank && shape->n <= CR_RANK_MAX;
    int i;

    *y = (struct cr_spec){ .type = x->type };
    for (i = 0; i < shape->n && i < CR_RANK_MAX; i++) {
        int k = i - (shape->n - x->rank);
        int64_t dim = k >= 0 ? x->dim[k] : 1;

        y->dim[y->rank++] = shape->v[i] == -1 && k >= 0 ? dim : shape->v[i];
        fits = fits && y->dim[i] > 0 && (dim == 1 || dim == y->dim[i]);
    }
    if (!fits)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "input: found %s, expected a shape "
                        "that broadcasts to %s",
                        cr_diag_format(p->arena, x),
                        cr_diag_format(p->arena, y));
    return true;
}

static struct cr_data_move broadcast_to_move(const struct cr_op_ctx *s)
{
    struct cr_data_move m = { .at = 0 };

    cr_tensor_iter_init(&m.walk, s->out[0].rank, s->out[0].dim);
    cr_tensor_iter_add(&m.walk, &s->in[0]);
    cr_tensor_iter_merge(&m.walk);
    return m;
}

CR_MOVE(broadcast_to, cr_data_move_sum)

const struct cr_op cr_op_broadcast_to = {
    .about = { .name = "broadcast_to",
               .summary = "Broadcasts the tensor to a shape.",
               .opts = broadcast_to_opts,
               .size = sizeof(struct cr_reshape) },
    .rows = CR_ROWS_FILL,
    CR_MOVE_OP,
    .plan = broadcast_to_plan,
    .forward = broadcast_to_forward,
    .algebra.linear = CR_X(0),
    .backward = broadcast_to_backward,
};

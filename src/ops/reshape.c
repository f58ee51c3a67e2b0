/* reshape: the same elements in another shape; a dimension of -1 is
 * inferred. */
#include "families/data_movement.h"
#include "graph/op_attrs.h"

static const struct cr_opt reshape_opts[] = {
    CR_INTS_OPTIONAL(struct cr_reshape, shape, -1, CR_DIM_MAX,
                     "Shape of the output; one dimension may be -1, which is "
                     "inferred."),
    { 0 },
};

static bool reshape_plan(struct cr_op_plan *p)
{
    const struct cr_ints *shape = &((const struct cr_reshape *)p->attr)->shape;
    struct cr_spec *y = &p->out[0];
    int64_t left = cr_count(&p->in[0]);
    int i, open = -1;

    *y = (struct cr_spec){ .type = p->in[0].type };
    if (shape->n > CR_RANK_MAX)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "shape: found too many dimensions, expected at most "
                        "%d",
                        CR_RANK_MAX);
    for (i = 0; i < shape->n; i++) {
        y->dim[y->rank++] = shape->v[i];
        if (shape->v[i] == -1 && open < 0)
            open = i;
        else if (shape->v[i] < 1 || left % shape->v[i] != 0)
            left = 0;
        else
            left /= shape->v[i];
    }
    if (open >= 0)
        y->dim[open] = left;
    if (left == 0 || (open < 0 && left != 1)) {
        if (open >= 0)
            y->dim[open] = -1;
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "input: found %s, expected as many elements as the "
                        "shape %s",
                        cr_diag_format(p->arena, p->in),
                        cr_diag_format(p->arena, y));
    }
    p->same = true;
    return true;
}

const struct cr_op cr_op_reshape = {
    .about = { .name = "reshape",
               .summary = "Gives the tensor another shape.",
               .opts = reshape_opts,
               .size = sizeof(struct cr_reshape) },
    .rows = CR_ROWS_VIEW,
    .min_inputs = 1,
    .max_inputs = 1,
    .inputs = cr_input,
    CR_VIEW_OP,
    .plan = reshape_plan,
};

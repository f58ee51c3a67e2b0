/* squeeze: removes axes of length 1; all of them if none is named. */
#include "families/axis.h"
#include "families/data_movement.h"

struct squeeze {
    struct cr_ints axis;
};

static const struct cr_opt squeeze_opts[] = {
    CR_INTS_OPTIONAL(struct squeeze, axis, -CR_RANK_MAX, CR_RANK_MAX - 1,
                     "Axes of length 1 to remove. Default: all."),
    { 0 },
};

static bool squeeze_plan(struct cr_op_plan *p)
{
    const struct cr_ints *axis = &((const struct squeeze *)p->attr)->axis;
    const struct cr_spec *x = &p->in[0];
    bool drop[CR_RANK_MAX];
    int i, at;

    for (i = 0; i < x->rank; i++)
        drop[i] = axis->n == 0 && x->dim[i] == 1;
    for (i = 0; i < axis->n; i++) {
        if (!cr_axis_check(p, x, axis->v[i], &at))
            return false;
        if (x->dim[at] != 1)
            return cr_error(p->diag, p->pos, CR_E_SHAPE,
                            "axis %d of input %s: expected length 1", at,
                            cr_diag_format(p->arena, x));
        drop[at] = true;
    }
    p->out[0] = (struct cr_spec){ .type = x->type };
    for (i = 0; i < x->rank; i++)
        if (!drop[i])
            p->out[0].dim[p->out[0].rank++] = x->dim[i];
    p->same = true;
    return true;
}

const struct cr_op cr_op_squeeze = {
    .about = { .name = "squeeze",
               .summary = "Removes axes of length 1.",
               .opts = squeeze_opts,
               .size = sizeof(struct squeeze) },
    .rows = CR_ROWS_VIEW,
    .min_inputs = 1,
    .max_inputs = 1,
    .inputs = cr_input,
    CR_VIEW_OP,
    .exact = true,
    .plan = squeeze_plan,
};

/* one_hot: on_value where the position along a new axis equals the index,
 * off_value elsewhere; an index out of range gives off_value everywhere */
#include "families/axis.h"
#include "graph/op_attrs.h"

#include "kernels/parallel_for.h"

static const struct cr_opt one_hot_opts[] = {
    CR_INT(struct cr_one_hot, depth, 1, CR_DIM_MAX, "Length of the new axis."),
    CR_REAL_DEFAULT(struct cr_one_hot, on_value, 1, -DBL_MAX, DBL_MAX,
                    "Value at the index."),
    CR_REAL_DEFAULT(struct cr_one_hot, off_value, 0, -DBL_MAX, DBL_MAX,
                    "Value elsewhere."),
    CR_INT_DEFAULT(struct cr_one_hot, axis, -1, -CR_RANK_MAX, CR_RANK_MAX - 1,
                   "Position of the new axis in the output."),
    { 0 },
};

static bool one_hot_plan(struct cr_op_plan *p)
{
    const struct cr_one_hot *o = p->attr;
    struct cr_spec *y = &p->out[0];
    int i, at;

    if (p->in[0].type != CR_I32)
        return cr_error(p->diag, p->pos, CR_E_DTYPE,
                        "indices: found %s, expected int32",
                        cr_type_name(p->in[0].type));
    *y = p->in[0];
    y->type = CR_REAL;
    if (y->rank == CR_RANK_MAX)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "indices: found %s, which have the maximum of %d "
                        "dimensions",
                        cr_diag_format(p->arena, p->in), CR_RANK_MAX);
    if (!cr_axis_check_new(p, p->in, o->axis, &at))
        return false;
    y->rank++;
    for (i = y->rank - 1; i > at; i--)
        y->dim[i] = y->dim[i - 1];
    y->dim[at] = o->depth;
    if (o->strict)
        p->bound[0] = (struct cr_bound){ .set = true, .high = o->depth };
    return true;
}

struct lines {
    const struct cr_op_ctx *s;
    struct cr_axis a;
};

static void one_hot_range(void *ctx, int64_t from, int64_t to)
{
    const struct lines *l = ctx;
    const struct cr_one_hot *o = l->s->attr;
    int64_t line, c;

    for (line = from; line < to; line++) {
        cr_real *y = (cr_real *)l->s->y[0] + cr_axis_line(&l->a, line);
        int64_t index = ((const int32_t *)l->s->x[0])[line];

        for (c = 0; c < l->a.n; c++)
            y[c * l->a.inner] =
                (cr_real)(c == index ? o->on_value : o->off_value);
    }
}

static void one_hot_forward(const struct cr_op_ctx *s)
{
    const struct cr_one_hot *o = s->attr;
    struct lines l = { s, cr_axis_of(&s->out[0], o->axis) };

    cr_parallel_for(l.a.outer * l.a.inner, (double)l.a.n, &l, one_hot_range);
}

static const char *const one_hot_inputs[] = { "indices", NULL };

const struct cr_op cr_op_one_hot = {
    .about = { .name = "one_hot",
               .summary = "One-hot encoding along a new axis.",
               .opts = one_hot_opts,
               .size = sizeof(struct cr_one_hot) },
    .rows = CR_ROWS_EACH,
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .inputs = one_hot_inputs,
    .int_inputs = CR_X(0),
    .plan = one_hot_plan,
    .forward = one_hot_forward,
};

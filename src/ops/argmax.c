/* argmax: y = index of the largest element along an axis; of equal elements
 * the first; NaN counts as largest. Without an axis, the index in the flat
 * tensor. No gradient. */
#include "families/axis.h"
#include "families/reduction.h"
#include "kernels/parallel_for.h"

struct argmax {
    int64_t axis; /* CR_INT_NONE: flat */
    bool keepdims;
};

static const struct cr_opt argmax_opts[] = {
    CR_INT_OPTIONAL(struct argmax, axis, -CR_RANK_MAX, CR_RANK_MAX - 1,
                    "Axis. Default: the flattened tensor."),
    CR_BOOL_DEFAULT(struct argmax, keepdims, false,
                    "Keep the axis, with length 1."),
    { 0 },
};

static bool argmax_plan(struct cr_op_plan *p)
{
    const struct argmax *o = p->attr;
    struct cr_ints axis = { o->axis != CR_INT_NONE, &o->axis };

    if (!cr_reduction_plan(p, &axis, o->keepdims))
        return false;
    p->out[0].type = CR_I32;
    return true;
}

struct lines {
    const struct cr_op_ctx *s;
    struct cr_axis axis;
};

static void argmax_range(void *ctx, int64_t from, int64_t to)
{
    const struct lines *l = ctx;
    int64_t line, c;

    for (line = from; line < to; line++) {
        const cr_real *x =
            (const cr_real *)l->s->x[0] + cr_axis_line(&l->axis, line);
        cr_real top = x[0];
        int64_t at = 0;

        for (c = 1; c < l->axis.n; c++) {
            cr_real v = x[c * l->axis.inner];

            if (v > top || (v != v && top == top)) {
                top = v;
                at = c;
            }
        }
        ((int32_t *)l->s->y[0])[line] = (int32_t)at;
    }
}

static void argmax_forward(const struct cr_op_ctx *s)
{
    const struct argmax *o = s->attr;
    struct lines l = { s, { 1, cr_count(&s->in[0]), 1 } };

    if (o->axis != CR_INT_NONE)
        l.axis = cr_axis_of(&s->in[0], o->axis);
    cr_parallel_for(l.axis.outer * l.axis.inner, (double)l.axis.n, &l,
                    argmax_range);
}

const struct cr_op cr_op_argmax = {
    .about = { .name = "argmax",
               .summary = "Index of the maximum along an axis.",
               .opts = argmax_opts,
               .size = sizeof(struct argmax),
               .renamed = cr_reduce_attr_renamed },
    .rows = CR_ROWS_EACH,
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .inputs = cr_input,
    .plan = argmax_plan,
    .forward = argmax_forward,
};

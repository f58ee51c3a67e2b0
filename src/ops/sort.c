/* sort: the elements along an axis in order, and their indices. Stable; NaN is
 * the largest;  dx = dy at the indices */
#include "families/sort.h"

struct sort {
    int64_t axis;
    bool descending;
};

static const struct cr_opt sort_opts[] = {
    CR_INT_DEFAULT(struct sort, axis, -1, -CR_RANK_MAX, CR_RANK_MAX - 1,
                   "Axis."),
    CR_BOOL_DEFAULT(struct sort, descending, false,
                    "Sort in descending "
                    "order."),
    { 0 },
};

static bool sort_plan(struct cr_op_plan *p)
{
    int at;

    p->out[0] = p->out[1] = p->in[0];
    p->out[1].type = CR_I32;
    if (!cr_axis_check(p, &p->in[0], ((const struct sort *)p->attr)->axis, &at))
        return false;
    p->thread_scratch = cr_sort_scratch(p->in[0].dim[at]);
    return true;
}

static void sort_forward(const struct cr_op_ctx *s)
{
    const struct sort *o = s->attr;

    cr_sort_lines(s, o->axis, cr_axis_of(&s->in[0], o->axis).n, o->descending);
}

static void sort_backward(const struct cr_op_ctx *s)
{
    const struct sort *o = s->attr;

    cr_sort_backward(s, o->axis, cr_axis_of(&s->in[0], o->axis).n);
}

const struct cr_op cr_op_sort = {
    .about = { .name = "sort",
               .summary = "Sorts along an axis; returns the values and their "
                          "indices.",
               .opts = sort_opts,
               .size = sizeof(struct sort) },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 2,
    .inputs = cr_input,
    .saved_for_backward = CR_Y(1),
    .exact = true,
    .plan = sort_plan,
    .forward = sort_forward,
    .backward = sort_backward,
};

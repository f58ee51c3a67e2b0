/* topk: the k largest elements along an axis in descending order, and their
 * indices; of equal elements the first ones;  dx = dy at the indices, 0
 * elsewhere */
#include "families/sort.h"

struct topk {
    int64_t k, dim;
    bool largest, sorted;
};

static const struct cr_opt topk_opts[] = {
    CR_INT(struct topk, k, 1, CR_DIM_MAX, "Number of elements."),
    CR_INT_DEFAULT(struct topk, dim, -1, -CR_RANK_MAX, CR_RANK_MAX - 1,
                   "Axis."),
    CR_BOOL_DEFAULT(struct topk, largest, true,
                    "Largest elements; if false "
                    "the smallest."),
    CR_BOOL_DEFAULT(struct topk, sorted, true,
                    "Sort the result; it is always sorted."),
    { 0 },
};

static bool topk_plan(struct cr_op_plan *p)
{
    const struct topk *o = p->attr;
    int at;

    p->out[0] = p->in[0];
    if (!cr_axis_check(p, &p->in[0], o->dim, &at))
        return false;
    if (o->k > p->in[0].dim[at])
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "axis %d of input %s: expected at least %lld "
                        "elements",
                        at, cr_diag_format(p->arena, &p->in[0]),
                        (long long)o->k);
    p->thread_scratch = cr_sort_scratch(p->in[0].dim[at]);
    p->out[0].dim[at] = o->k;
    p->out[1] = p->out[0];
    p->out[1].type = CR_I32;
    return true;
}

static void topk_forward(const struct cr_op_ctx *s)
{
    const struct topk *o = s->attr;

    cr_sort_lines(s, o->dim, o->k, o->largest);
}

static void topk_backward(const struct cr_op_ctx *s)
{
    const struct topk *o = s->attr;

    cr_sort_backward(s, o->dim, o->k);
}

const struct cr_op cr_op_topk = {
    .about = { .name = "topk",
               .summary = "The k largest elements along an axis, and their "
                          "indices.",
               .opts = topk_opts,
               .size = sizeof(struct topk) },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 2,
    .inputs = cr_input,
    .saved_for_backward = CR_Y(1),
    .exact = true,
    .plan = topk_plan,
    .forward = topk_forward,
    .backward = topk_backward,
};

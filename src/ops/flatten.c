/* flatten: merges the dimensions start_dim..end_dim into one. */
#include "graph/op.h"
#include "graph/op_attrs.h"

#include <string.h>

const struct cr_opt cr_flatten_opts[] = {
    CR_INT_DEFAULT(
        struct cr_flatten, start_dim, 1, -CR_RANK_MAX, CR_RANK_MAX - 1,
        "First dimension to flatten; negative ones count from the end."),
    CR_INT_DEFAULT(struct cr_flatten, end_dim, -1, -CR_RANK_MAX,
                   CR_RANK_MAX - 1, "Last dimension to flatten."),
    { 0 },
};

static bool flatten_plan(struct cr_op_plan *p)
{
    static const struct cr_flatten usual = { 1, -1 };
    const struct cr_flatten *o = p->attr ? p->attr : &usual;
    const struct cr_spec *x = &p->in[0];
    struct cr_spec *y = &p->out[0];
    int64_t start = o->start_dim < 0 ? o->start_dim + x->rank : o->start_dim;
    int64_t end = o->end_dim < 0 ? o->end_dim + x->rank : o->end_dim;
    int64_t i;

    if (start == 1 && x->rank == 1)
        end = start = 0; /* there are no axes after the batch */
    if (start < 0 || end >= x->rank || start > end)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "input: found %s, expected dimensions %lld to %lld",
                        cr_diag_format(p->arena, x), (long long)o->start_dim,
                        (long long)o->end_dim);
    *y = (struct cr_spec){ .type = x->type };
    for (i = 0; i < x->rank; i++) {
        if (i > start && i <= end)
            y->dim[y->rank - 1] *= x->dim[i];
        else
            y->dim[y->rank++] = x->dim[i];
    }
    p->same = true;
    return true;
}

static void flatten_forward(const struct cr_op_ctx *s)
{
    memcpy(s->y[0], s->x[0], cr_bytes(&s->in[0]));
}

static void flatten_backward(const struct cr_op_ctx *s)
{
    const cr_real *dy = s->dy[0];
    cr_real *dx = s->dx[0];
    int64_t i, n = cr_count(&s->in[0]);

    for (i = 0; i < n; i++)
        dx[i] = s->accumulate[0] ? dx[i] + dy[i] : dy[i];
}

const struct cr_op cr_op_flatten = {
    .about = { .name = "flatten",
               .summary = "Flattens the dimensions start_dim to end_dim into "
                          "one.",
               .opts = cr_flatten_opts,
               .size = sizeof(struct cr_flatten) },
    .rows = CR_ROWS_VIEW,
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .inputs = cr_input,
    .int_inputs = CR_X(0),
    .plan = flatten_plan,
    .forward = flatten_forward,
    .bprop = "return reshape(dy, a.shape)",
    .backward = flatten_backward,
};

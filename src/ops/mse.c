/* mse: l = (x - y)^2; mean, sum or no reduction. The shapes are broadcast as
 * in NumPy.
 * dl/dx = 2 (x - y), dl/dy = -2 (x - y), summed over broadcast dimensions. */
#include "graph/op.h"
#include "graph/op_attrs.h"

const struct cr_opt cr_mse_opts[] = {
    CR_ENUM_DEFAULT(struct cr_mse, reduction, CR_MEAN, "mean|sum|none",
                    "Reduction over the elements."),
    { 0 },
};

static bool mse_shape(const struct cr_spec *a, const struct cr_spec *b,
                      struct cr_spec *to)
{
    int i;

    *to = CR_SCALAR;
    to->rank = a->rank > b->rank ? a->rank : b->rank;
    for (i = 1; i <= to->rank; i++) {
        int64_t da = i <= a->rank ? a->dim[a->rank - i] : 1;
        int64_t db = i <= b->rank ? b->dim[b->rank - i] : 1;

        if (da != db && da != 1 && db != 1)
            return false;
        to->dim[to->rank - i] = da > db ? da : db;
    }
    return true;
}

static bool mse_plan(struct cr_op_plan *p)
{
    struct cr_spec all;

    if (!mse_shape(&p->in[0], &p->in[1], &all)) {
        cr_error(p->diag, p->pos, CR_E_SHAPE,
                 "found output %s and label %s, expected shapes that broadcast",
                 cr_diag_format(p->arena, &p->in[0]),
                 cr_diag_format(p->arena, &p->in[1]));
        if (p->in[1].rank + 1 == p->in[0].rank)
            cr_hint(p->diag, "labels that are classes need CrossEntropyLoss");
        return false;
    }
    p->out[0] =
        ((const struct cr_mse *)p->attr)->reduction == CR_NONE ? all
                                                               : CR_SCALAR;
    return true;
}

/* The index in an input for element i of the broadcast shape. */
static int64_t mse_at(const struct cr_spec *all, const struct cr_spec *in,
                      int64_t i)
{
    int64_t at = 0, step = 1;
    int d;

    for (d = 1; d <= all->rank; d++) {
        int64_t size = all->dim[all->rank - d], k = i % size;

        i /= size;
        if (d <= in->rank) {
            int64_t mine = in->dim[in->rank - d];

            at += mine == 1 ? 0 : k * step;
            step *= mine;
        }
    }
    return at;
}

static void mse_forward(const struct cr_op_ctx *s)
{
    int reduction = ((const struct cr_mse *)s->attr)->reduction;
    const cr_real *a = s->x[0], *b = s->x[1];
    cr_real *out = s->y[0];
    struct cr_spec all;
    double sum = 0;
    int64_t i, n;

    mse_shape(&s->in[0], &s->in[1], &all);
    n = cr_count(&all);
    for (i = 0; i < n; i++) {
        cr_real d = a[mse_at(&all, &s->in[0], i)] -
                    b[mse_at(&all, &s->in[1], i)];

        if (reduction == CR_NONE)
            out[i] = d * d;
        else
            sum += (double)(d * d);
    }
    if (reduction != CR_NONE)
        out[0] = (cr_real)(reduction == CR_MEAN ? sum / (double)n : sum);
}

static void mse_backward(const struct cr_op_ctx *s)
{
    int reduction = ((const struct cr_mse *)s->attr)->reduction, k;
    const cr_real *a = s->x[0], *b = s->x[1], *dy = s->dy[0];
    struct cr_spec all;
    int64_t i, n;

    mse_shape(&s->in[0], &s->in[1], &all);
    n = cr_count(&all);
    for (k = 0; k < 2; k++) {
        cr_real *dx = s->dx[k], sign = k == 0 ? 2 : -2;
        int64_t mine = cr_count(&s->in[k]);

        if (!dx)
            continue;
        for (i = 0; i < mine && !s->accumulate[k]; i++)
            dx[i] = 0;
        for (i = 0; i < n; i++) {
            cr_real d = a[mse_at(&all, &s->in[0], i)] -
                        b[mse_at(&all, &s->in[1], i)];
            cr_real g = dy[reduction == CR_NONE ? i : 0];

            if (reduction == CR_MEAN)
                g /= (cr_real)n;
            dx[mse_at(&all, &s->in[k], i)] += sign * d * g;
        }
    }
}

const struct cr_op cr_op_mse = {
    .about = { .name = "mse",
               .summary = "Mean squared error.",
               .opts = cr_mse_opts,
               .size = sizeof(struct cr_mse) },
    .min_inputs = 2,
    .max_inputs = 2,
    .outputs = 1,
    .inputs = cr_targets2,
    .saved_for_backward = CR_X(0) | CR_X(1),
    .plan = mse_plan,
    .forward = mse_forward,
    .bprop = "d = a - b\n"
             "g = 2 * dy * d\n"
             "if reduction == 'mean':\n"
             "    g = g / d.size\n"
             "return shaped(g, a), shaped(-g, b)",
    .backward = mse_backward,
};

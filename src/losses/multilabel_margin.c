/* MultilabelMarginLoss: l = the sum over the labels t of a sample and all other
 * classes c of max(0, 1 - x_t + x_c) / C; the first -1 of a row ends its
 * labels */
#include "build/loss.h"
#include "kernels/parallel_for.h"

struct multilabel {
    int reduction;
};

static const struct cr_opt multilabel_opts[] = {
    CR_LOSS_REDUCTION(struct multilabel, CR_MEAN),
    { 0 },
};

enum {
    X,
    T
};

static bool multilabel_plan(struct cr_op_plan *p)
{
    const struct cr_spec *x = &p->in[X], *t = &p->in[T];

    if (t->type != CR_I32)
        return cr_error(p->diag, p->pos, CR_E_DTYPE,
                        "labels: found %s, expected int32",
                        cr_type_name(t->type));
    if (x->rank != 2 || t->rank != 2 || x->dim[0] != t->dim[0] ||
        x->dim[1] != t->dim[1])
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "output and labels: found %s and %s, expected (batch, "
                        "classes) for both",
                        cr_diag_format(p->arena, x),
                        cr_diag_format(p->arena, t));
    p->bound[T] =
        (struct cr_bound){
            .set = true, .computed = true, .low = -1, .high = x->dim[1]
        };
    p->out[0] = CR_SPEC(x->dim[0]);
    return true;
}

/* The number of labels of a row, and whether a class is one of them. */
static int64_t n_labels(const int32_t *t, int64_t classes)
{
    int64_t n = 0;

    while (n < classes && t[n] >= 0)
        n++;
    return n;
}

static bool is_label(const int32_t *t, int64_t n, int64_t c)
{
    int64_t i;

    for (i = 0; i < n; i++)
        if (t[i] == c)
            return true;
    return false;
}

/* Returns the value of one sample; if dx is set, adds g times its gradient. */
static cr_real multilabel_row(const cr_real *x, const int32_t *t, int64_t c,
                              cr_real g, cr_real *dx)
{
    int64_t i, k, n = n_labels(t, c);
    cr_real sum = 0;

    for (k = 0; k < c; k++) {
        if (is_label(t, n, k))
            continue;
        for (i = 0; i < n; i++) {
            cr_real violation = 1 - x[t[i]] + x[k];

            if (!(violation > 0))
                continue;
            sum += violation;
            if (dx) {
                dx[t[i]] -= g / (cr_real)c;
                dx[k] += g / (cr_real)c;
            }
        }
    }
    return sum / (cr_real)c;
}

static void multilabel_rows(void *ctx, int64_t from, int64_t to)
{
    const struct cr_op_ctx *s = ctx;
    int64_t i, k, c = s->in[X].dim[1];

    for (i = from; i < to; i++) {
        const cr_real *x = (const cr_real *)s->x[X] + i * c;
        const int32_t *t = (const int32_t *)s->x[T] + i * c;
        cr_real *dx = (cr_real *)s->dx[X] + i * c;

        if (!s->dx[X]) {
            ((cr_real *)s->y[0])[i] = multilabel_row(x, t, c, 0, NULL);
            continue;
        }
        for (k = 0; k < c && !s->accumulate[X]; k++)
            dx[k] = 0;
        multilabel_row(x, t, c, ((const cr_real *)s->dy[0])[i], dx);
    }
}

static void multilabel_step(const struct cr_op_ctx *s)
{
    struct cr_op_ctx own = *s;
    double c = (double)s->in[X].dim[1];

    cr_parallel_for_coarse(s->in[X].dim[0], c * c, &own, multilabel_rows);
}

static const struct cr_op multilabel_op = {
    .about = { .name = "multilabel_margin" },
    .min_inputs = 2,
    .max_inputs = 2,
    .outputs = 1,
    .saved_for_backward = CR_X(X) | CR_X(T),
    .int_inputs = CR_X(T),
    .plan = multilabel_plan,
    .forward = multilabel_step,
    .backward = multilabel_step,
};

static struct cr_val *multilabel_margin_build(struct cr_build *b,
                                              struct cr_val *const *in)
{
    const struct multilabel *o = cr_opts(b);

    return cr_loss_reduce(b, CR_EMIT_OP(b, &multilabel_op, NULL, in[0], in[1]),
                          o->reduction);
}

const struct cr_cell cr_loss_multilabel_margin = {
    .about = {
        .name = "MultilabelMarginLoss",
        .summary = "Multi-label hinge loss: all labels above all other classes "
                   "by 1.",
        .detail = "Output (batch, classes); labels are int32 of the same "
                  "shape: the indices of the classes of a sample, then -1.",
        .example = "loss: {MultilabelMarginLoss: {reduction: sum}}\n",
        .opts = multilabel_opts,
        .size = sizeof(struct multilabel),
    },
    .min_inputs = 2,
    .max_inputs = 2,
    .targets = (const char *const[]){ "label", NULL },
    .target = CR_TARGET_LABELS,
    .build = multilabel_margin_build,
};

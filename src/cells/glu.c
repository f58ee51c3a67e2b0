/* GLU: y = a s(b), a and b the halves of x along an axis, s(b) = 1 / (1 +
 * exp(-b));  da = dy s(b), db = dy a s(b) (1 - s(b)).
 * Dauphin et al., arXiv:1612.08083. */
#include "families/axis.h"
#include "graph/cell.h"
#include "graph/op_attrs.h"

#include "kernels/parallel_for.h"

static bool glu_plan(struct cr_op_plan *p)
{
    const struct cr_softmax *o = p->attr;
    int axis;

    if (!cr_axis_check(p, &p->in[0], o->axis, &axis))
        return false;
    if (p->in[0].dim[axis] % 2 != 0)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "input: found %s, expected an even size along axis "
                        "%lld",
                        cr_diag_format(p->arena, &p->in[0]),
                        (long long)o->axis);
    p->out[0] = p->in[0];
    p->out[0].dim[axis] /= 2;
    return true;
}

struct halves {
    const struct cr_op_ctx *s;
    int64_t run; /* contiguous elements of a half */
};

static struct halves glu_halves(const struct cr_op_ctx *s)
{
    const struct cr_softmax *o = s->attr;
    struct cr_axis a = cr_axis_of(&s->in[0], o->axis);
    struct halves h = { s, a.n / 2 * a.inner };

    return h;
}

/* Index of a for element i of the result; b is h->run elements further. */
static int64_t glu_at(const struct halves *h, int64_t i)
{
    return i / h->run * 2 * h->run + i % h->run;
}

static void glu_range(void *ctx, int64_t from, int64_t to)
{
    const struct halves *h = ctx;
    const cr_real *x = h->s->x[0];
    cr_real *y = h->s->y[0];
    int64_t i;

    for (i = from; i < to; i++) {
        int64_t at = glu_at(h, i);

        y[i] = x[at] * cr_sigmoid(x[at + h->run]);
    }
}

static void glu_forward(const struct cr_op_ctx *s)
{
    struct halves h = glu_halves(s);

    cr_parallel_for(cr_count(&s->out[0]), 10, &h, glu_range);
}

static void glu_back_range(void *ctx, int64_t from, int64_t to)
{
    const struct halves *h = ctx;
    const cr_real *x = h->s->x[0], *dy = h->s->dy[0];
    cr_real *dx = h->s->dx[0];
    int64_t i;

    for (i = from; i < to; i++) {
        int64_t at = glu_at(h, i);
        cr_real gate = cr_sigmoid(x[at + h->run]), da = dy[i] * gate;
        cr_real db = da * x[at] * (1 - gate);

        dx[at] = h->s->accumulate[0] ? dx[at] + da : da;
        dx[at + h->run] = h->s->accumulate[0] ? dx[at + h->run] + db : db;
    }
}

static void glu_backward(const struct cr_op_ctx *s)
{
    struct halves h = glu_halves(s);

    cr_parallel_for(cr_count(&s->out[0]), 10, &h, glu_back_range);
}

static const struct cr_opt glu_opts[] = {
    CR_INT_DEFAULT(struct cr_softmax, axis, -1, -CR_RANK_MAX, CR_RANK_MAX - 1,
                   "The axis to split in halves."),
    { 0 },
};

static const struct cr_op glu_op = {
    .about = { .name = "glu",
               .opts = glu_opts,
               .size = sizeof(struct cr_softmax) },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .saved_for_backward = CR_X(0),
    .plan = glu_plan,
    .forward = glu_forward,
    .backward = glu_backward,
};

static struct cr_val *glu_build(struct cr_build *b, struct cr_val *const *in)
{
    return CR_EMIT_OP(b, &glu_op, cr_opts(b), in[0]);
}

const struct cr_cell cr_cell_glu = {
    .about = {
        .name = "GLU",
        .summary = "GLU, gated linear unit: one half of x times the sigmoid of "
                   "the other.",
        .detail = "Any shape with an even size along the axis; the output has "
                  "half that size.",
        .example = "network: [Flatten, {Dense: [784, 10]}, GLU]\n",
        .opts = glu_opts,
        .size = sizeof(struct cr_softmax),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .build = glu_build,
};

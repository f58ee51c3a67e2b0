/* GLU: y = a s(b), a and b the halves of x along an axis, s(b) = 1 / (1 +
 * exp(-b));  da = dy s(b), db = dy a s(b) (1 - s(b)).
 * Dauphin et al., arXiv:1612.08083. */
#include "families/axis.h"
#include "graph/cell.h"
#include "graph/op_attrs.h"

#include "kernels/parallel_for.h"
#include "kernels/tensor_iter.h"

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
    const struct cr_spec *x = &s->in[0], lies = cr_tensor_as_it_lies(x);
    int axis = (int)(o->axis < 0 ? o->axis + x->rank : o->axis);
    struct cr_axis a;

    if (x->layout == CR_CHANNELS_LAST && axis > 0)
        axis = axis == 1 ? x->rank - 1 : axis - 1;
    a = cr_axis_of(&lies, axis);
    return (struct halves){ s, a.n / 2 * a.inner };
}

CR_CLONES_WIDE static void glu_run(int64_t n, const cr_real *a,
                                   const cr_real *b, cr_real *y)
{
    int64_t i;

    CR_SIMD
    for (i = 0; i < n; i++)
        y[i] = a[i] * cr_sigmoid(b[i]);
}

#define GLU_BACK(to)                                     \
    CR_SIMD                                              \
    for (i = 0; i < n; i++) {                            \
        cr_real gate = cr_sigmoid(b[i]), d = dy[i] * gate; \
                                                         \
        da[i] to d;                                      \
        db[i] to d * a[i] * (1 - gate);                  \
    }

CR_CLONES_WIDE static void glu_back_run(int64_t n, const cr_real *a,
                                        const cr_real *b, const cr_real *dy,
                                        bool add, cr_real *da, cr_real *db)
{
    int64_t i;

    if (add)
        GLU_BACK(+=)
    else
        GLU_BACK(=)
}

/* Elements of the result in [from, to): their a lies at x[at]. */
static void glu_each(const struct halves *h, int64_t from, int64_t to,
                     bool back)
{
    const struct cr_op_ctx *s = h->s;
    const cr_real *x = s->x[0];
    int64_t n;

    for (; from < to; from += n) {
        int64_t off = from % h->run, at = from / h->run * 2 * h->run + off;

        n = to - from < h->run - off ? to - from : h->run - off;
        if (back)
            glu_back_run(n, x + at, x + at + h->run,
                         (const cr_real *)s->dy[0] + from, s->accumulate[0],
                         (cr_real *)s->dx[0] + at,
                         (cr_real *)s->dx[0] + at + h->run);
        else
            glu_run(n, x + at, x + at + h->run, (cr_real *)s->y[0] + from);
    }
}

static void glu_range(void *ctx, int64_t from, int64_t to)
{
    glu_each(ctx, from, to, false);
}

static void glu_forward(const struct cr_op_ctx *s)
{
    struct halves h = glu_halves(s);

    cr_parallel_for(cr_count(&s->out[0]), 1, &h, glu_range);
}

static void glu_back_range(void *ctx, int64_t from, int64_t to)
{
    glu_each(ctx, from, to, true);
}

static void glu_backward(const struct cr_op_ctx *s)
{
    struct halves h = glu_halves(s);

    cr_parallel_for(cr_count(&s->out[0]), 2, &h, glu_back_range);
}

static const struct cr_opt glu_opts[] = {
    CR_INT_DEFAULT(struct cr_softmax, axis, -1, -CR_RANK_MAX, CR_RANK_MAX - 1,
                   "The axis to split in halves."),
    { 0 },
};

static const struct cr_op_kernels glu_kernels = { .last = cr_last_too };

static const struct cr_op glu_op = {
    .about = { .name = "glu",
               .opts = glu_opts,
               .size = sizeof(struct cr_softmax) },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .saved_for_backward = CR_X(0),
    .kernels = &glu_kernels,
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

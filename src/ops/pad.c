/* pad: adds elements around the tensor. `padding` holds pairs (before, after),
 * the last axis first, as in MindSpore and PyTorch. For position i in the
 * result, relative to the first element of the input, the new elements are
 *   constant   a value
 *   reflect    x[-i] before, x[2 (n - 1) - i] after
 *   replicate  the first, the last
 *   circular   x[i mod n] */
#include "families/data_movement.h"
#include "kernels/parallel_for.h"

#include <string.h>

enum {
    CONSTANT,
    REFLECT,
    REPLICATE,
    CIRCULAR
};

struct pad {
    struct cr_ints padding;
    int mode;
    double value;
};

static const struct cr_opt pad_opts[] = {
    CR_INTS(struct pad, padding, 0, CR_DIM_MAX,
            "Number of elements before and after, in pairs from the last axis "
            "on."),
    CR_ENUM_DEFAULT(struct pad, mode, CONSTANT,
                    "constant|reflect|replicate|circular",
                    "Values of the padding."),
    CR_REAL_DEFAULT(struct pad, value, 0, -INFINITY, INFINITY,
                    "Value for mode "
                    "constant."),
    { 0 },
};

static bool pad_plan(struct cr_op_plan *p)
{
    const struct cr_ints *o = &((const struct pad *)p->attr)->padding;
    int i, mode = ((const struct pad *)p->attr)->mode;

    if (o->n % 2 != 0 || o->n > 2 * p->in[0].rank)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "padding: found %d number%s, expected pairs, at most "
                        "%d for input %s",
                        o->n, o->n == 1 ? "" : "s", p->in[0].rank,
                        cr_diag_format(p->arena, p->in));
    p->out[0] = p->in[0];
    for (i = 0; i < o->n; i++) {
        int axis = p->in[0].rank - 1 - i / 2;

        p->out[0].dim[axis] += o->v[i];
        if ((mode == REFLECT && o->v[i] >= p->in[0].dim[axis]) ||
            (mode == CIRCULAR && o->v[i] > p->in[0].dim[axis]))
            return cr_error(p->diag, p->pos, CR_E_SHAPE,
                            "axis %d of input %s is too short for a padding of "
                            "%lld in this mode",
                            axis, cr_diag_format(p->arena, p->in),
                            (long long)o->v[i]);
    }
    return true;
}

/* Maps the input to its part of the result. */
static struct cr_data_move pad_move(const struct cr_op_ctx *s)
{
    const struct cr_ints *o = &((const struct pad *)s->attr)->padding;
    int64_t step[CR_RANK_MAX], at = 0;
    struct cr_data_move m;
    int i;

    cr_data_move_dense(&s->out[0], step);
    for (i = 0; i < o->n; i += 2)
        at += o->v[i] * step[s->in[0].rank - 1 - i / 2];
    cr_data_move_open(&m, &s->in[0], step, at);
    return m;
}

/* ---- Modes that copy elements of the input */

static int64_t mirror(int mode, int64_t i, int64_t n)
{
    if (mode == REFLECT)
        return i < 0 ? -i : i >= n ? 2 * (n - 1) - i : i;
    if (mode == REPLICATE)
        return i < 0 ? 0 : i >= n ? n - 1 : i;
    return i < 0 ? i + n : i >= n ? i - n : i;
}

/* The padded dimensions; the product of those before them is the number of
 * planes. */
struct planes {
    const struct cr_op_ctx *s;
    const struct pad *o;
    int first; /* first padded dimension */
    int64_t small, large;
};

/* The index in the input's plane for an index in the result's. */
static int64_t source_of(const struct planes *p, int64_t at)
{
    const struct cr_spec *x = &p->s->in[0], *y = &p->s->out[0];
    int64_t from = 0, step = 1;
    int i;

    for (i = x->rank - 1; i >= p->first; i--) {
        int64_t before = p->o->padding.v[2 * (x->rank - 1 - i)];

        from += step * mirror(p->o->mode, at % y->dim[i] - before, x->dim[i]);
        at /= y->dim[i];
        step *= x->dim[i];
    }
    return from;
}

static void plane_range(void *ctx, int64_t from, int64_t to)
{
    const struct planes *p = ctx;
    size_t size = cr_type_size(p->s->in[0].type);
    int64_t i;

    for (; from < to; from++)
        for (i = 0; i < p->large; i++)
            memcpy((char *)p->s->y[0] + (size_t)(from * p->large + i) * size,
                   (const char *)p->s->x[0] +
                       (size_t)(from * p->small + source_of(p, i)) * size,
                   size);
}

static void plane_back_range(void *ctx, int64_t from, int64_t to)
{
    const struct planes *p = ctx;
    int64_t i;

    for (; from < to; from++) {
        const cr_real *dy = (const cr_real *)p->s->dy[0] + from * p->large;
        cr_real *dx = (cr_real *)p->s->dx[0] + from * p->small;

        for (i = 0; i < p->small && !p->s->accumulate[0]; i++)
            dx[i] = 0;
        for (i = 0; i < p->large; i++)
            dx[source_of(p, i)] += dy[i];
    }
}

static void planes_each(const struct cr_op_ctx *s,
                        void (*fn)(void *, int64_t, int64_t))
{
    const struct pad *o = s->attr;
    struct planes p = { s, o, s->in[0].rank - o->padding.n / 2, 1, 1 };
    int i;

    for (i = p.first; i < s->in[0].rank; i++) {
        p.small *= s->in[0].dim[i];
        p.large *= s->out[0].dim[i];
    }
    cr_parallel_for_coarse(cr_count(&s->in[0]) / p.small, 10 * (double)p.large,
                           &p, fn);
}

static void pad_forward(const struct cr_op_ctx *s)
{
    const struct pad *o = s->attr;

    if (o->mode == CONSTANT) {
        struct cr_data_move m = pad_move(s);

        cr_data_move_fill(&s->out[0], o->value, s->y[0]);
        cr_data_move_scatter(&m, s->in[0].type, s->x[0], s->y[0]);
    } else {
        planes_each(s, plane_range);
    }
}

static void pad_backward(const struct cr_op_ctx *s)
{
    if (((const struct pad *)s->attr)->mode == CONSTANT) {
        struct cr_data_move m = pad_move(s);

        cr_data_move_gather_add(&m, s->dy[0], s->dx[0], s->accumulate[0]);
    } else {
        planes_each(s, plane_back_range);
    }
}

const struct cr_op cr_op_pad = {
    .about = { .name = "pad",
               .summary = "Pads a tensor.",
               .opts = pad_opts,
               .size = sizeof(struct pad) },
    .rows = CR_ROWS_EACH,
    CR_MOVE_OP,
    .plan = pad_plan,
    .forward = pad_forward,
    .bprop = "if mode == 'constant' and value != 0:\n"
             "    return refuse('it pads with a number')\n"
             "return kernel(0)",
    .algebra.linear = CR_X(0),
    .backward = pad_backward,
};

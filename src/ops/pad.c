/* pad: adds elements around the tensor. `padding` holds pairs (before, after),
 * the last axis first, as in MindSpore and PyTorch. For position i in the
 * result, relative to the first element of the input, the new elements are
 *   constant   a value
 *   reflect    x[-i] before, x[2 (n - 1) - i] after
 *   replicate  the first, the last
 *   circular   x[i mod n] */
#include "families/data_movement.h"
#include "graph/op_attrs.h"
#include "kernels/parallel_for.h"

#include <string.h>

static const struct cr_opt pad_opts[] = {
    CR_INTS(struct cr_pad, padding, 0, CR_DIM_MAX,
            "Number of elements before and after, in pairs from the last axis "
            "on."),
    CR_ENUM_DEFAULT(struct cr_pad, mode, CR_PAD_CONSTANT,
                    "constant|reflect|replicate|circular",
                    "Values of the padding."),
    CR_REAL_DEFAULT(struct cr_pad, value, 0, -INFINITY, INFINITY,
                    "Value for mode "
                    "constant."),
    { 0 },
};

static bool pad_plan(struct cr_op_plan *p)
{
    const struct cr_ints *o = &((const struct cr_pad *)p->attr)->padding;
    int i, mode = ((const struct cr_pad *)p->attr)->mode;

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
        if ((mode == CR_PAD_REFLECT && o->v[i] >= p->in[0].dim[axis]) ||
            (mode == CR_PAD_CIRCULAR && o->v[i] > p->in[0].dim[axis]))
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
    const struct cr_ints *o = &((const struct cr_pad *)s->attr)->padding;
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
    if (mode == CR_PAD_REFLECT)
        return i < 0 ? -i : i >= n ? 2 * (n - 1) - i : i;
    if (mode == CR_PAD_REPLICATE)
        return i < 0 ? 0 : i >= n ? n - 1 : i;
    return i < 0 ? i + n : i >= n ? i - n : i;
}

/* The padded dimensions, at least the last one; the product of those before
 * them is the number of planes. The rows of a plane are along the last one. */
struct planes {
    const struct cr_op_ctx *s;
    const struct cr_pad *o;
    int first;                /* first padded dimension */
    int64_t small, large;     /* rows of a plane, in the input and after */
    int64_t n, before, after; /* elements of a row in the input */
};

static int64_t before_of(const struct planes *p, int dim)
{
    int at = 2 * (p->s->in[0].rank - 1 - dim);

    return at < p->o->padding.n ? p->o->padding.v[at] : 0;
}

/* The row of the input's plane for a row of the result's. */
static int64_t source_of(const struct planes *p, int64_t row)
{
    const struct cr_spec *x = &p->s->in[0], *y = &p->s->out[0];
    int64_t from = 0, step = 1;
    int i;

    for (i = x->rank - 2; i >= p->first; i--) {
        from += step * mirror(p->o->mode, row % y->dim[i] - before_of(p, i),
                              x->dim[i]);
        row /= y->dim[i];
        step *= x->dim[i];
    }
    return from;
}

static void row_forward(const struct planes *p, size_t size, const char *x,
                        char *y)
{
    int64_t i;

    for (i = -p->before; i < 0; i++, y += size)
        memcpy(y, x + (size_t)mirror(p->o->mode, i, p->n) * size, size);
    memcpy(y, x, (size_t)p->n * size);
    y += (size_t)p->n * size;
    for (i = p->n; i < p->n + p->after; i++, y += size)
        memcpy(y, x + (size_t)mirror(p->o->mode, i, p->n) * size, size);
}

static void plane_range(void *ctx, int64_t from, int64_t to)
{
    const struct planes *p = ctx;
    size_t size = cr_type_size(p->s->in[0].type);
    int64_t m = p->before + p->n + p->after, i;

    for (; from < to; from++)
        for (i = 0; i < p->large; i++)
            row_forward(
                p, size,
                (const char *)p->s->x[0] +
                    (size_t)((from * p->small + source_of(p, i)) * p->n) * size,
                (char *)p->s->y[0] +
                    (size_t)((from * p->large + i) * m) * size);
}

static void row_backward(const struct planes *p, const cr_real *dy, cr_real *dx)
{
    int64_t i;

    for (i = -p->before; i < 0; i++)
        dx[mirror(p->o->mode, i, p->n)] += *dy++;
    CR_SIMD
    for (i = 0; i < p->n; i++)
        dx[i] += dy[i];
    for (; i < p->n + p->after; i++)
        dx[mirror(p->o->mode, i, p->n)] += dy[i];
}

static void plane_back_range(void *ctx, int64_t from, int64_t to)
{
    const struct planes *p = ctx;
    int64_t m = p->before + p->n + p->after, i;

    for (; from < to; from++) {
        const cr_real *dy = (const cr_real *)p->s->dy[0] + from * p->large * m;
        cr_real *dx = (cr_real *)p->s->dx[0] + from * p->small * p->n;

        if (!p->s->accumulate[0])
            memset(dx, 0, (size_t)(p->small * p->n) * sizeof *dx);
        for (i = 0; i < p->large; i++)
            row_backward(p, dy + i * m, dx + source_of(p, i) * p->n);
    }
}

static void planes_each(const struct cr_op_ctx *s,
                        void (*fn)(void *, int64_t, int64_t))
{
    struct planes p = { .s = s, .o = s->attr, .small = 1, .large = 1, .n = 1 };
    int rank = s->in[0].rank, pairs = p.o->padding.n / 2, i;

    p.first = rank - (pairs > 0 ? pairs : 1);
    if (rank > 0)
        p.n = s->in[0].dim[rank - 1];
    if (pairs > 0) {
        p.before = p.o->padding.v[0];
        p.after = p.o->padding.v[1];
    }
    for (i = p.first; i < rank - 1; i++) {
        p.small *= s->in[0].dim[i];
        p.large *= s->out[0].dim[i];
    }
    cr_parallel_for_coarse(
        cr_count(&s->in[0]) / (p.small * p.n),
        (double)p.large * (10 + (double)(p.before + p.n + p.after)), &p, fn);
}

static void pad_forward(const struct cr_op_ctx *s)
{
    const struct cr_pad *o = s->attr;

    if (o->mode == CR_PAD_CONSTANT) {
        struct cr_data_move m = pad_move(s);

        cr_data_move_fill(&s->out[0], o->value, s->y[0]);
        cr_data_move_scatter(&m, s->in[0].type, s->x[0], s->y[0]);
    } else {
        planes_each(s, plane_range);
    }
}

static void pad_backward(const struct cr_op_ctx *s)
{
    if (((const struct cr_pad *)s->attr)->mode == CR_PAD_CONSTANT) {
        struct cr_data_move m = pad_move(s);

        cr_data_move_gather_add(&m, s->dy[0], s->dx[0], s->accumulate[0]);
    } else {
        planes_each(s, plane_back_range);
    }
}

static double pad_fill_value(const void *attr)
{
    const struct cr_pad *o = attr;

    return o->mode == CR_PAD_CONSTANT ? o->value : 0;
}

/* Modes that copy elements read rows of the input. */
static enum cr_channels_last pad_last(const struct cr_op_plan *p)
{
    return ((const struct cr_pad *)p->attr)->mode == CR_PAD_CONSTANT
               ? CR_LAST_TOO
               : CR_LAST_NEVER;
}

static const struct cr_op_kernels pad_kernels = { .last = pad_last };

const struct cr_op cr_op_pad = {
    .about = { .name = "pad",
               .summary = "Pads a tensor.",
               .opts = pad_opts,
               .size = sizeof(struct cr_pad) },
    .rows = CR_ROWS_EACH,
    CR_MOVE_OP,
    .plan = pad_plan,
    .kernels = &pad_kernels,
    .forward = pad_forward,
    .bprop = "if mode == 'constant' and value != 0:\n"
             "    return refuse('it pads with a number')\n"
             "return kernel(0)",
    .algebra = { .linear = CR_X(0), .fill_value = pad_fill_value },
    .backward = pad_backward,
};

/*
 * Pad: elements before and after each dimension: zeros, or a reflection of the
 * input with its border (SYMMETRIC) or without it (REFLECT).
 * Backward: the gradient of an element is the sum over all its copies.
 */
#include "graph/cell.h"
#include "graph/op.h"
#include "kernels/parallel_for.h"

enum { CONSTANT, REFLECT, SYMMETRIC };

struct pad {
    struct cr_ints paddings; /* pairs (before, after) */
    int mode;
};

/* The input index that index i of the output copies; -1: zero. */
static int64_t pad_from(const struct pad *o, int d, int64_t size, int64_t i)
{
    int64_t at = i - o->paddings.v[2 * d], shift = o->mode == SYMMETRIC;

    if (at >= 0 && at < size)
        return at;
    if (o->mode == CONSTANT)
        return -1;
    return at < 0 ? -at - shift : 2 * (size - 1) - at + shift;
}

static bool pad_plan(struct cr_op_plan *p)
{
    const struct pad *o = p->attr;
    const struct cr_spec *x = &p->in[0];
    int d;

    if (o->paddings.n != 2 * x->rank)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "paddings: expected a pair for each of the %d "
                        "dimensions of input %s",
                        x->rank, cr_diag_format(p->arena, x));
    p->out[0] = *x;
    for (d = 0; d < 2 * x->rank; d++) {
        int64_t most = x->dim[d / 2] - (o->mode == REFLECT);

        if (o->mode != CONSTANT && o->paddings.v[d] > most)
            return cr_error(p->diag, p->pos, CR_E_SHAPE,
                            "dimension %d of input %s: found %lld elements, "
                            "expected at least %lld to mirror",
                            d / 2, cr_diag_format(p->arena, x), (long long)most,
                            (long long)o->paddings.v[d]);
        p->out[0].dim[d / 2] += o->paddings.v[d];
    }
    return true;
}

/* Handles rows of the last dimension. */
static void pad_range(void *ctx, int64_t from, int64_t to)
{
    const struct cr_op_ctx *s = ctx;
    const struct cr_spec *x = &s->in[0], *y = &s->out[0];
    int64_t row, i, last = x->dim[x->rank - 1], n = y->dim[y->rank - 1];

    for (row = from; row < to; row++) {
        int64_t left = row, at = 0, step = 1, k;
        bool zero = false;
        int d;

        for (d = x->rank - 2; d >= 0; d--) {
            k = pad_from(s->attr, d, x->dim[d], left % y->dim[d]);
            left /= y->dim[d];
            zero = zero || k < 0;
            at += k * step;
            step *= x->dim[d];
        }
        for (i = 0; i < n; i++) {
            k = pad_from(s->attr, x->rank - 1, last, i);
            cr_reals(s->y[0])[row * n + i] =
                zero || k < 0 ? 0 : cr_creals(s->x[0])[at * last + k];
        }
    }
}

static void pad_forward(const struct cr_op_ctx *s)
{
    int64_t n = s->out[0].dim[s->out[0].rank - 1];

    cr_parallel_for_coarse(cr_count(&s->out[0]) / n, 3 * (double)n,
                           (void *)(uintptr_t)s, pad_range);
}

/* The output indices of dimension d that copy element i: at most three. */
static int pad_copies(const struct pad *o, int d, int64_t size, int64_t i,
                      int64_t to[3])
{
    int64_t before = o->paddings.v[2 * d], after = o->paddings.v[2 * d + 1];
    int64_t shift = o->mode == SYMMETRIC, low = before - i - shift;
    int64_t high = before + 2 * (size - 1) - i + shift;
    int n = 0;

    to[n++] = before + i;
    if (o->mode != CONSTANT && low >= 0 && low < before)
        to[n++] = low;
    if (o->mode != CONSTANT && high >= before + size &&
        high < before + size + after)
        to[n++] = high;
    return n;
}

/* Sums dy over all copies of the element with these indices. */
static cr_real pad_gather(const struct cr_op_ctx *s, const int64_t *index,
                          int d, int64_t at)
{
    const struct cr_spec *x = &s->in[0];
    int64_t to[3];
    cr_real sum = 0;
    int k, n;

    if (d == x->rank)
        return cr_creals(s->dy[0])[at];
    n = pad_copies(s->attr, d, x->dim[d], index[d], to);
    for (k = 0; k < n; k++)
        sum += pad_gather(s, index, d + 1, at * s->out[0].dim[d] + to[k]);
    return sum;
}

static void pad_back_range(void *ctx, int64_t from, int64_t to)
{
    const struct cr_op_ctx *s = ctx;
    const struct cr_spec *x = &s->in[0];
    cr_real *dx = s->dx[0];
    int64_t i;

    for (i = from; i < to; i++) {
        int64_t index[CR_RANK_MAX], left = i;
        cr_real g;
        int d;

        for (d = x->rank - 1; d >= 0; d--) {
            index[d] = left % x->dim[d];
            left /= x->dim[d];
        }
        g = pad_gather(s, index, 0, 0);
        dx[i] = s->accumulate[0] ? dx[i] + g : g;
    }
}

static void pad_backward(const struct cr_op_ctx *s)
{
    cr_parallel_for(cr_count(&s->in[0]), 50, (void *)(uintptr_t)s,
                    pad_back_range);
}

static const struct cr_opt pad_opts[] = {
    CR_INTS(struct pad, paddings, 0, CR_DIM_MAX,
            "Number of elements before and after each dimension, a pair for "
            "each, the batch's first: [[0, 0], [1, 1]].",
            .pairs = true),
    CR_ENUM_DEFAULT(
        struct pad, mode, CONSTANT, "CONSTANT|REFLECT|SYMMETRIC",
        "CONSTANT: zeros. REFLECT: the input mirrored without its border. "
        "SYMMETRIC: with its border."),
    { 0 },
};

static const struct cr_op pad_op = {
    .about = { .name = "mirror",
               .opts = pad_opts,
               .size = sizeof(struct pad) },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .plan = pad_plan,
    .forward = pad_forward,
    .backward = pad_backward,
};

static struct cr_val *pad_build(struct cr_build *b, struct cr_val *const *in)
{
    return CR_EMIT_OP(b, &pad_op, cr_opts(b), in[0]);
}

const struct cr_cell cr_cell_pad = {
    .about = {
        .name = "Pad",
        .summary = "Padding before and after each dimension.",
        .detail = "Any shape.",
        .example = "network: {pad: {Pad: {paddings: [[0, 0], [0, 0], [2, 2], "
                   "[2, 2]]}}, flatten: Flatten, fc: {Dense: {out_channels: "
                   "10}}}\n",
        .opts = pad_opts,
        .size = sizeof(struct pad),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .build = pad_build,
};

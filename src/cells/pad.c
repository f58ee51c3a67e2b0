/*
 * Pad: elements before and after each dimension: zeros, or a reflection of the
 * input with its border (SYMMETRIC) or without it (REFLECT).
 * Backward: the gradient of an element is the sum over all its copies.
 */
#include "graph/cell.h"
#include "graph/op.h"
#include "kernels/parallel_for.h"

#include <string.h>

enum {
    CONSTANT,
    REFLECT,
    SYMMETRIC
};

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

    if (x->rank < 1 || o->paddings.n != 2 * x->rank)
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

/* A row of the last dimension; x: the row that it copies, or NULL. */
static void pad_row(const struct cr_op_ctx *s, const cr_real *x, cr_real *y)
{
    const struct pad *o = s->attr;
    int d = s->in[0].rank - 1;
    int64_t size = s->in[0].dim[d], n = s->out[0].dim[d], i, k;
    int64_t before = o->paddings.v[2 * d];

    if (!x) {
        memset(y, 0, (size_t)n * sizeof *y);
        return;
    }
    memcpy(y + before, x, (size_t)size * sizeof *y);
    for (i = 0; i < n; i++) {
        if (i == before)
            i += size;
        if (i == n)
            break;
        k = pad_from(o, d, size, i);
        y[i] = k < 0 ? 0 : x[k];
    }
}

/* Handles rows of the last dimension. */
static void pad_range(void *ctx, int64_t from, int64_t to)
{
    const struct cr_op_ctx *s = ctx;
    const struct cr_spec *x = &s->in[0], *y = &s->out[0];
    int64_t row, last = x->dim[x->rank - 1], n = y->dim[y->rank - 1];

    for (row = from; row < to; row++) {
        int64_t left = row, at = 0, step = last, k;
        bool zero = false;
        int d;

        for (d = x->rank - 2; d >= 0; d--) {
            k = pad_from(s->attr, d, x->dim[d], left % y->dim[d]);
            left /= y->dim[d];
            zero = zero || k < 0;
            at += k * step;
            step *= x->dim[d];
        }
        pad_row(s, zero ? NULL : cr_creals(s->x[0]) + at,
                cr_reals(s->y[0]) + row * n);
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

/* Adds a row of dy to that of x which it copies. */
static void pad_row_back(const struct cr_op_ctx *s, const cr_real *dy,
                         cr_real *dx)
{
    const struct pad *o = s->attr;
    int d = s->in[0].rank - 1;
    int64_t size = s->in[0].dim[d], n = s->out[0].dim[d], i;
    int64_t before = o->paddings.v[2 * d];

    CR_SIMD
    for (i = 0; i < size; i++)
        dx[i] += dy[before + i];
    if (o->mode == CONSTANT)
        return;
    for (i = 0; i < before; i++)
        dx[pad_from(o, d, size, i)] += dy[i];
    for (i = before + size; i < n; i++)
        dx[pad_from(o, d, size, i)] += dy[i];
}

/* Adds all rows of dy that copy the row of x with these indices: `at` is the
 * number of the row, as far as dimension d. */
static void pad_gather(const struct cr_op_ctx *s, const int64_t *index, int d,
                       int64_t at, cr_real *dx)
{
    const struct cr_spec *x = &s->in[0], *y = &s->out[0];
    int64_t to[3];
    int k, n;

    if (d == x->rank - 1) {
        pad_row_back(s, cr_creals(s->dy[0]) + at * y->dim[d], dx);
        return;
    }
    n = pad_copies(s->attr, d, x->dim[d], index[d], to);
    for (k = 0; k < n; k++)
        pad_gather(s, index, d + 1, at * y->dim[d] + to[k], dx);
}

/* Handles rows of the last dimension. */
static void pad_back_range(void *ctx, int64_t from, int64_t to)
{
    const struct cr_op_ctx *s = ctx;
    const struct cr_spec *x = &s->in[0];
    int64_t n = x->dim[x->rank - 1], row;

    for (row = from; row < to; row++) {
        int64_t index[CR_RANK_MAX], left = row;
        cr_real *dx = cr_reals(s->dx[0]) + row * n;
        int d;

        for (d = x->rank - 2; d >= 0; d--) {
            index[d] = left % x->dim[d];
            left /= x->dim[d];
        }
        if (!s->accumulate[0])
            memset(dx, 0, (size_t)n * sizeof *dx);
        pad_gather(s, index, 0, 0, dx);
    }
}

static void pad_backward(const struct cr_op_ctx *s)
{
    int64_t n = s->in[0].dim[s->in[0].rank - 1];

    cr_parallel_for_coarse(cr_count(&s->in[0]) / n, 3 * (double)n,
                           (void *)(uintptr_t)s, pad_back_range);
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
    .about = { .name = "mirror", .opts = pad_opts, .size = sizeof(struct pad) },
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

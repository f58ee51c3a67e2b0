/*
 * layer_norm: y = (x - mean) r gamma + beta,  r = 1 / sqrt(variance + eps),
 * mean and (biased) variance of each row: the axes from begin_norm_axis on.
 * gamma, beta have the shape of the axes from begin_params_axis on.
 *
 * Backward, a row of M, d = dy gamma:
 *   dx = r (d - sum(d) / M - (x - mean) r^2 sum(d (x - mean)) / M)
 *   dgamma = sum over rows of dy (x - mean) r;  dbeta = sum of dy
 * One pass over the rows computes all of it; sums over rows are accumulated
 * per block of rows, and then over blocks.
 * Ba, Kiros and Hinton, arXiv:1607.06450.
 */
#include "base/thread_pool.h"
#include "families/low.h"
#include "graph/op_attrs.h"
#include "kernels/parallel_for.h"
#include "kernels/row_stats.h"

#include <string.h>

enum {
    X,
    GAMMA,
    BETA
};

const struct cr_opt cr_layer_norm_opts[] = {
    CR_INT_DEFAULT(struct cr_layer_norm, begin_norm_axis, -1, -CR_RANK_MAX,
                   CR_RANK_MAX - 1,
                   "First axis to normalise; all axes after "
                   "it are normalised too."),
    CR_INT_DEFAULT(struct cr_layer_norm, begin_params_axis, -1, -CR_RANK_MAX,
                   CR_RANK_MAX - 1,
                   "First axis of gamma and beta in the input."),
    CR_REAL_POS_DEFAULT(struct cr_layer_norm, epsilon, 1e-7, 1e30,
                        "Added to the variance (PyTorch's default: 1e-5)."),
    { 0 },
};

/* Product of the dimensions from this axis on; 0 if there is no such axis. */
static int64_t layer_norm_from(const struct cr_spec *x, int64_t axis)
{
    int64_t n = 1;
    int i;

    axis = axis < 0 ? axis + x->rank : axis;
    if (axis < 0 || axis >= x->rank)
        return 0;
    for (i = (int)axis; i < x->rank; i++)
        n *= x->dim[i];
    return n;
}

struct rows {
    const struct cr_op_ctx *s;
    const struct cr_row_kernel *k;
    int64_t rows, m, params; /* m: elements per row */
    int64_t piece;           /* number of consecutive parameters that apply to
                                a row */
    int64_t per, blocks;
    cr_real *mean, *r, *part; /* part: (blocks, 2, params) */
    cr_real *room;            /* for a kernel of the whole */
};

static struct rows layer_norm_rows(const struct cr_spec *x,
                                   const struct cr_layer_norm *o)
{
    struct rows r = { .m = layer_norm_from(x, o->begin_norm_axis),
                      .params = layer_norm_from(x, o->begin_params_axis) };

    r.rows = r.m > 0 ? cr_count(x) / r.m : 0;
    r.piece = r.m < r.params ? r.m : r.params;
    r.per = cr_row_block(r.rows);
    r.blocks = cr_row_blocks(r.rows);
    return r;
}

/* As a kernel computes it as a whole, where parameters are a row each. */
static struct cr_row_norm layer_norm_whole(const struct cr_layer_norm *o,
                                           const struct rows *r)
{
    return (struct cr_row_norm){ .rows = r->m == r->params ? r->rows : 0,
                                 .n = r->m,
                                 .eps = o->epsilon };
}

/* In low precision: x, dy and dx of a row as float32. */
static size_t layer_norm_room(int64_t m)
{
    return 3 * (size_t)m * sizeof(cr_real);
}

static bool layer_norm_plan(struct cr_op_plan *p)
{
    const struct cr_layer_norm *o = p->attr;
    const struct cr_spec *x = &p->in[X];
    struct rows r = layer_norm_rows(x, o);
    const struct cr_row_kernel *whole;
    struct cr_row_norm norm;
    struct cr_spec params = *x;
    int i, axis = (int)o->begin_params_axis;

    if (r.m == 0 || r.params == 0)
        return cr_error(
            p->diag, p->pos, CR_E_SHAPE, "input: found %s, expected an axis %d",
            cr_diag_format(p->arena, x),
            (int)(r.m == 0 ? o->begin_norm_axis : o->begin_params_axis));
    axis = axis < 0 ? axis + x->rank : axis;
    params.rank = x->rank - axis;
    memmove(params.dim, x->dim + axis,
            (size_t)params.rank * sizeof params.dim[0]);
    for (i = GAMMA; i <= BETA; i++)
        if (!cr_spec_same(&p->in[i], &params))
            return cr_error(
                p->diag, p->pos, CR_E_SHAPE,
                "input: found %s, which ends in %s from axis %d on, expected "
                "the shape of the parameters, %s",
                cr_diag_format(p->arena, x), cr_diag_format(p->arena, &params),
                (int)o->begin_params_axis, cr_diag_format(p->arena, &p->in[i]));
    p->out[0] = *x;
    p->saved = (size_t)r.rows * 2 * sizeof(cr_real);
    p->scratch = (size_t)(r.blocks * 2 * r.params) * sizeof(cr_real);
    p->thread_scratch = layer_norm_room(r.m);
    norm = layer_norm_whole(o, &r);
    whole = cr_row_norm_kernel(&norm);
    if (whole->norm)
        p->scratch += 3 * (size_t)(r.rows * r.m) * sizeof(cr_real);
    if (whole->norm && p->thread_scratch < whole->thread_scratch(&norm))
        p->thread_scratch = whole->thread_scratch(&norm);
    return true;
}

static struct rows layer_norm_step(const struct cr_op_ctx *s)
{
    struct rows r = layer_norm_rows(&s->in[X], s->attr);

    r.s = s;
    r.k = cr_row_kernel();
    r.mean = s->saved;
    r.r = r.mean + r.rows;
    r.part = s->scratch;
    r.room = r.part + r.blocks * 2 * r.params;
    return r;
}

/* The kernel of the whole, or one without. Tensors in low precision are in
 * scratch then, as float32, and a dx that is added or not needed. */
static const struct cr_row_kernel *layer_norm_of(const struct rows *r,
                                                 struct cr_row_norm *norm)
{
    const struct cr_op_ctx *s = r->s;
    const struct cr_row_kernel *k;

    *norm = layer_norm_whole(s->attr, r);
    k = cr_row_norm_kernel(norm);
    if (!k->norm)
        return k;
    norm->x = cr_low_x(s, X, 0, r->rows * r->m, r->room);
    norm->gamma = s->x[GAMMA];
    norm->beta = s->x[BETA];
    norm->mean = r->mean;
    norm->r = r->r;
    norm->part = r->part;
    return k;
}

#define AHEAD 3072 /* bytes */

/* Some rows further on, to level 1: at the end of each page the processor
 * starts to guess anew, and a row's sums wait for its numbers. */
CR_INLINE void layer_norm_ahead(const void *x, unsigned two_bytes, int64_t row,
                                int64_t m)
{
    int64_t bytes = m * (two_bytes ? 2 : (int64_t)sizeof(cr_real)), i;
    const char *at = (const char *)x + row * bytes;

    for (i = 0; i < bytes && x; i += 64)
        __builtin_prefetch(at + AHEAD + i);
}

static void layer_norm_range(void *ctx, int64_t from, int64_t to)
{
    const struct rows *r = ctx;
    const struct cr_layer_norm *o = r->s->attr;
    const cr_real *gamma = r->s->x[GAMMA], *beta = r->s->x[BETA];
    cr_real *room = cr_thread_scratch(layer_norm_room(r->m));
    int64_t row, at;

    for (row = from; row < to; row++) {
        const cr_real *x = cr_low_x(r->s, X, row * r->m, r->m, room);
        cr_real *y = cr_low_y_open(r->s, row * r->m, room + r->m);
        double mean, variance;

        layer_norm_ahead(r->s->x[X], r->s->two_bytes & CR_X(X), row, r->m);
        layer_norm_ahead(r->s->y[0], r->s->two_bytes & CR_Y(0), row, r->m);
        if (!r->s->again) {
            r->k->moments(r->m, x, &mean, &variance);
            r->mean[row] = (cr_real)mean;
            r->r[row] = (cr_real)(1 / sqrt(variance + o->epsilon));
        }
        for (at = 0; at < r->m; at += r->piece) {
            int64_t p = (row * r->m + at) % r->params;

            r->k->affine(r->piece, x + at, r->mean[row], r->r[row], gamma + p,
                         beta + p, y + at);
        }
        cr_low_y_close(r->s, row * r->m, r->m, y);
    }
}

static void layer_norm_forward(const struct cr_op_ctx *s)
{
    struct rows r = layer_norm_step(s);
    struct cr_row_norm norm;
    const struct cr_row_kernel *k = layer_norm_of(&r, &norm);

    if (k->norm) {
        int64_t n = r.rows * r.m;

        norm.y = cr_low_y_open(s, 0, r.room + n);
        k->norm(&norm);
        cr_low_y_close(s, 0, n, norm.y);
        return;
    }
    cr_parallel_for_coarse(r.rows, (double)r.m, &r, layer_norm_range);
}

/* dx of a row whose parameters are not one contiguous piece from the first. */
static void layer_norm_row(const struct rows *r, int64_t row, const cr_real *x,
                           const cr_real *dy, cr_real *room)
{
    const struct cr_op_ctx *s = r->s;
    const cr_real *gamma = s->x[GAMMA];
    bool low = cr_low_any(s);
    cr_real *dx = low ? cr_low_dx_open(s, X, row * r->m, room)
                      : cr_reals(s->dx[X]) + row * r->m;
    cr_real mean = r->mean[row], scale = r->r[row];
    double sum = 0, dot = 0, m = (double)r->m;
    int64_t at;

    for (at = 0; at < r->m; at += r->piece) {
        double d, q;

        r->k->sums(r->piece, x + at, mean, dy + at,
                   gamma + (row * r->m + at) % r->params, &d, &q);
        sum += d;
        dot += q;
    }
    dot *= (double)scale * (double)scale;
    for (at = 0; at < r->m; at += r->piece)
        r->k->backward(r->piece, x + at, mean, dy + at,
                        gamma + (row * r->m + at) % r->params, 1, scale,
                        (cr_real)(sum / m), (cr_real)(dot / m),
                        s->accumulate[X] && !low, dx + at);
    if (low)
        cr_low_dx_close(s, X, row * r->m, r->m, dx);
}

static void layer_norm_block(const struct rows *r, int64_t block)
{
    const struct cr_op_ctx *s = r->s;
    cr_real *part = r->part + block * 2 * r->params;
    bool sums = s->dx[GAMMA] || s->dx[BETA];
    int64_t row = block * r->per, end = row + r->per, at;
    cr_real *room = cr_thread_scratch(layer_norm_room(r->m));

    if (sums)
        memset(part, 0, (size_t)(2 * r->params) * sizeof *part);
    for (; row < end && row < r->rows; row++) {
        const cr_real *x = cr_low_x(s, X, row * r->m, r->m, room);
        const cr_real *dy = cr_low_dy(s, row * r->m, r->m, room + r->m);

        layer_norm_ahead(s->x[X], s->two_bytes & CR_X(X), row, r->m);
        layer_norm_ahead(s->dy[0], s->grads_two_bytes & CR_Y(0), row, r->m);
        layer_norm_ahead(s->dx[X], s->grads_two_bytes & CR_X(X), row, r->m);
        if (s->dx[X])
            layer_norm_row(r, row, x, dy, room + 2 * r->m);
        for (at = 0; at < r->m && sums; at += r->piece) {
            int64_t p = (row * r->m + at) % r->params;

            r->k->gather(r->piece, x + at, r->mean[row], r->r[row], dy + at,
                         part + p, part + r->params + p);
        }
    }
}

static void layer_norm_blocks(void *ctx, int64_t from, int64_t to)
{
    for (; from < to; from++)
        layer_norm_block(ctx, from);
}

static void layer_norm_backward(const struct cr_op_ctx *s)
{
    struct rows r = layer_norm_step(s);
    struct cr_row_norm norm;
    const struct cr_row_kernel *k = layer_norm_of(&r, &norm);

    if (k->norm) {
        int64_t n = r.rows * r.m;
        cr_real *room = r.room + 2 * n;

        norm.dy = cr_low_dy(s, 0, n, r.room + n);
        norm.dx = s->dx[X] ? cr_low_dx_open(s, X, 0, room) : room;
        k->norm_backward(&norm);
        if (s->dx[X])
            cr_low_dx_close(s, X, 0, n, norm.dx);
    } else {
        cr_parallel_for_coarse(r.blocks, 2 * (double)(r.m * r.per), &r,
                               layer_norm_blocks);
    }
    if (s->dx[GAMMA])
        cr_row_reduce(r.blocks, 2 * r.params, r.params, r.part,
                      s->accumulate[GAMMA], s->dx[GAMMA]);
    if (s->dx[BETA])
        cr_row_reduce(r.blocks, 2 * r.params, r.params, r.part + r.params,
                      s->accumulate[BETA], s->dx[BETA]);
}

static bool layer_norm_accepts(const struct cr_op_ctx *s, unsigned of,
                               unsigned parts)
{
    (void)s;
    return of == CR_Y(0) && parts == CR_END_MAP;
}

static const char *layer_norm_kernel(const struct cr_op_ctx *s)
{
    struct rows r = layer_norm_rows(&s->in[X], s->attr);
    struct cr_row_norm norm = layer_norm_whole(s->attr, &r);

    return cr_row_norm_kernel(&norm)->head.name;
}

static const struct cr_op_kernels layer_norm_kernels = {
    .name = layer_norm_kernel, .accepts = layer_norm_accepts
};

static const char *const layer_norm_inputs[] = { "input_x", "gamma", "beta",
                                                 NULL };

static bool layer_norm_rows_apart(const void *attr, const struct cr_spec *x,
                                  int in, int out)
{
    const struct cr_layer_norm *o = attr;

    (void)in;
    return out < cr_axis_place(o->begin_norm_axis, x->rank) &&
           out < cr_axis_place(o->begin_params_axis, x->rank);
}

const struct cr_op cr_op_layer_norm = {
    .about = { .name = "layer_norm",
               .summary = "Layer normalisation.",
               .opts = cr_layer_norm_opts,
               .size = sizeof(struct cr_layer_norm) },
    .rows = CR_ROWS_EACH,
    .rows_apart = layer_norm_rows_apart,
    .min_inputs = 3,
    .max_inputs = 3,
    .outputs = 1,
    .inputs = layer_norm_inputs,
    .signature = "input, normalized_shape, weight=None, bias=None, eps=1e-5",
    .text = "begin = -len(normalized_shape)\n"
            "gamma = ones(normalized_shape) if weight is None else weight\n"
            "beta = zeros(normalized_shape) if bias is None else bias\n"
            "return layer_norm(input, gamma, beta, begin_norm_axis=begin, "
            "begin_params_axis=begin, epsilon=eps)",
    .kernels = &layer_norm_kernels,
    .saved_for_backward = CR_X(X) | CR_X(GAMMA),
    .low = CR_X(X) | CR_Y(0),
    .saved_again = true,
    .plan = layer_norm_plan,
    .forward = layer_norm_forward,
    .bprop = "first = begin_norm_axis\n"
             "if first < 0:\n"
             "    first = first + a.ndim\n"
             "axes = range(first, a.ndim)\n"
             "d = a - mean(a, axes, keepdims=True)\n"
             "r = rsqrt(mean(d * d, axes, keepdims=True) + epsilon)\n"
             "h = d * r\n"
             "g = dy if b is None else dy * b\n"
             "dx = g - mean(g, axes, keepdims=True)\n"
             "dx = r * (dx - h * mean(g * h, axes, keepdims=True))\n"
             "return (dx, None if b is None else shaped(dy * h, b),\n"
             "        None if c is None else shaped(dy, c))",
    .backward = layer_norm_backward,
};

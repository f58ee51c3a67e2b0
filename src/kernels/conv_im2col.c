/*
 * Convolutions as matrix products: the windows of a chunk of output pixels are
 * copied into the rows of a matrix. Supports all of kernels/conv.h, for any
 * shape, layout and number type; tests compare the direct kernels with it.
 *
 * With K = ci / group * kernel and a chunk of P output pixels (they run on
 * over images), per group:
 *
 *   cols (P, K)    the window of each pixel, in the order of a row of w
 *   rows (P, O)    y or dy of these pixels, O = co / group
 *
 *   forward   rows = cols w'             and out to y
 *   input     cols = rows w              and added to dx where it came from
 *   weight    dw  += rows' cols
 *
 * Chunks are worked off in order; within one, threads share pixels, channels
 * or the product's outputs, so sums have one order.
 */
#include "kernels/conv.h"

#include <string.h>

#include "base/thread_pool.h"

#define CHUNK_BYTES ((int64_t)2 << 20)

/* Where element (n, c, s) of a tensor lies. */
struct lie {
    int64_t n, c, s;
};

struct im2col {
    const struct cr_conv *c;
    int64_t group;        /* the one in work */
    int64_t k, o, space;  /* K, O, output pixels of an image */
    int64_t from, pixels; /* the chunk */
    struct lie x, y;
    const cr_real *x_from, *y_from;
    cr_real *to;
    const struct cr_epilogue *end;
    cr_real *cols, *rows;
};

static int64_t product(const int64_t dim[3])
{
    return dim[0] * dim[1] * dim[2];
}

static struct lie lie(enum cr_layout layout, int64_t channels, int64_t space)
{
    if (layout == CR_CHANNELS_LAST)
        return (struct lie){ channels * space, 1, channels };
    return (struct lie){ channels * space, space, 1 };
}

static int64_t k_of(const struct cr_conv *c)
{
    return c->ci / c->group * product(c->kernel);
}

static int64_t chunk_of(const struct cr_conv *c)
{
    int64_t all = c->n * product(c->out);
    int64_t row = (k_of(c) + c->co / c->group) * (int64_t)sizeof(cr_real);
    int64_t pixels = CHUNK_BYTES / row;

    if (pixels < 64)
        pixels = 64;
    return pixels < all ? pixels : all;
}

static size_t scratch_bytes(const struct cr_conv *c)
{
    return (size_t)(chunk_of(c) * (k_of(c) + c->co / c->group)) *
           sizeof(cr_real);
}

static struct im2col start(const struct cr_conv *c, void *scratch)
{
    struct im2col w = { .c = c,
                        .k = k_of(c),
                        .o = c->co / c->group,
                        .space = product(c->out),
                        .x = lie(c->x, c->ci, product(c->in)),
                        .y = lie(c->y, c->co, product(c->out)),
                        .cols = scratch };

    w.rows = w.cols + chunk_of(c) * w.k;
    return w;
}

/* The inputs that pixel q of an image sees, along one dimension, start here;
 * taps from..to - 1 lie inside. */
struct span {
    int64_t at, from, to;
};

static struct span span(const struct cr_conv *c, int i, int64_t q)
{
    int64_t at = q * c->stride[i] - c->pad_before[i], d = c->dilation[i];
    int64_t from = at < 0 ? (-at + d - 1) / d : 0;
    int64_t to = at < c->in[i] ? (c->in[i] - at + d - 1) / d : 0;

    if (to > c->kernel[i])
        to = c->kernel[i];
    return (struct span){ at, from < to ? from : to, to };
}

struct window {
    int64_t n;
    struct span s[3];
};

static struct window window(const struct im2col *w, int64_t pixel)
{
    const struct cr_conv *c = w->c;
    int64_t q = pixel % w->space, plane = c->out[1] * c->out[2];

    return (struct window){ pixel / w->space,
                            { span(c, 0, q / plane),
                              span(c, 1, q % plane / c->out[2]),
                              span(c, 2, q % c->out[2]) } };
}

/* One channel of a window: K / (ci / group) numbers of cols, and their place
 * in the image. */
static void window_read(const struct cr_conv *c, const struct window *v,
                        const cr_real *x, int64_t step, cr_real *to)
{
    const struct span *s = v->s;
    int64_t i, j, k, row = c->kernel[2];

    for (i = 0; i < c->kernel[0]; i++)
        for (j = 0; j < c->kernel[1]; j++, to += row) {
            int64_t d = s[0].at + i * c->dilation[0];
            int64_t h = s[1].at + j * c->dilation[1];
            const cr_real *from =
                x + ((d * c->in[1] + h) * c->in[2] + s[2].at) * step;

            if (i < s[0].from || i >= s[0].to || j < s[1].from ||
                j >= s[1].to) {
                for (k = 0; k < row; k++)
                    to[k] = 0;
                continue;
            }
            for (k = 0; k < s[2].from; k++)
                to[k] = 0;
            for (; k < s[2].to; k++)
                to[k] = from[k * c->dilation[2] * step];
            for (; k < row; k++)
                to[k] = 0;
        }
}

static void window_add(const struct cr_conv *c, const struct window *v,
                       const cr_real *from, int64_t step, cr_real *x)
{
    const struct span *s = v->s;
    int64_t i, j, k;

    for (i = s[0].from; i < s[0].to; i++)
        for (j = s[1].from; j < s[1].to; j++) {
            int64_t d = s[0].at + i * c->dilation[0];
            int64_t h = s[1].at + j * c->dilation[1];
            const cr_real *row = from + (i * c->kernel[1] + j) * c->kernel[2];
            cr_real *to = x + ((d * c->in[1] + h) * c->in[2] + s[2].at) * step;

            for (k = s[2].from; k < s[2].to; k++)
                to[k * c->dilation[2] * step] += row[k];
        }
}

/* ---- the steps of a chunk, each split over threads ---- */

static void read_cols(void *ctx, int task, int n_tasks)
{
    const struct im2col *w = ctx;
    int64_t taps = product(w->c->kernel), channels = w->k / taps, i, k;
    int64_t to = w->pixels * (task + 1) / n_tasks;

    for (i = w->pixels * task / n_tasks; i < to; i++) {
        struct window v = window(w, w->from + i);
        const cr_real *x = w->x_from + v.n * w->x.n;

        for (k = 0; k < channels; k++)
            window_read(w->c, &v, x + (w->group * channels + k) * w->x.c,
                        w->x.s, w->cols + i * w->k + k * taps);
    }
}

static void add_cols(void *ctx, int task, int n_tasks)
{
    const struct im2col *w = ctx;
    int64_t taps = product(w->c->kernel), channels = w->k / taps, i, k;
    int64_t to = channels * (task + 1) / n_tasks;

    for (i = 0; i < w->pixels; i++) {
        struct window v = window(w, w->from + i);
        cr_real *x = w->to + v.n * w->x.n;

        for (k = channels * task / n_tasks; k < to; k++)
            window_add(w->c, &v, w->cols + i * w->k + k * taps, w->x.s,
                       x + (w->group * channels + k) * w->x.c);
    }
}

static int64_t place(const struct im2col *w, int64_t i)
{
    int64_t pixel = w->from + i;

    return pixel / w->space * w->y.n + pixel % w->space * w->y.s +
           w->group * w->o * w->y.c;
}

static void read_rows(void *ctx, int task, int n_tasks)
{
    const struct im2col *w = ctx;
    int64_t i, k, to = w->pixels * (task + 1) / n_tasks;

    for (i = w->pixels * task / n_tasks; i < to; i++) {
        const cr_real *y = w->y_from + place(w, i);

        for (k = 0; k < w->o; k++)
            w->rows[i * w->o + k] = y[k * w->y.c];
    }
}

static cr_real finished(const struct cr_epilogue *end, int64_t channel,
                        int64_t at, cr_real y)
{
    if (end->bias)
        y += end->bias[channel];
    if (end->act == CR_ACT_RELU && y < 0)
        y = 0;
    if (end->mask && end->mask[at] <= 0)
        y = 0;
    return y;
}

static void write_rows(void *ctx, int task, int n_tasks)
{
    const struct im2col *w = ctx;
    int64_t i, k, to = w->pixels * (task + 1) / n_tasks;

    for (i = w->pixels * task / n_tasks; i < to; i++)
        for (k = 0; k < w->o; k++) {
            int64_t at = place(w, i) + k * w->y.c;
            cr_real y = w->rows[i * w->o + k];

            if (w->end->add)
                y += w->end->add[at];
            w->to[at] = finished(w->end, w->group * w->o + k, at, y);
        }
}

static void finish_input(void *ctx, int task, int n_tasks)
{
    const struct im2col *w = ctx;
    int64_t space = product(w->c->in), n = w->c->n * w->c->ci, i, s;
    int64_t to = n * (task + 1) / n_tasks;

    for (i = n * task / n_tasks; i < to; i++)
        for (s = 0; s < space; s++) {
            int64_t channel = i % w->c->ci;
            int64_t at = i / w->c->ci * w->x.n + channel * w->x.c + s * w->x.s;

            w->to[at] = finished(w->end, channel, at, w->to[at]);
        }
}

static int threads(const struct im2col *w)
{
    return w->pixels * w->k < 16384 ? 1 : cr_thread_count();
}

static bool next_chunk(struct im2col *w)
{
    int64_t all = w->c->n * w->space;

    w->from += w->pixels;
    w->pixels = chunk_of(w->c);
    if (w->pixels > all - w->from)
        w->pixels = all - w->from;
    return w->pixels > 0;
}

/* ---- the three ---- */

static void forward(const struct cr_conv *c, const cr_real *x, const cr_real *w,
                    const cr_real *packed, const struct cr_epilogue *end,
                    cr_real *y, void *scratch)
{
    struct im2col v = start(c, scratch);

    (void)packed;
    v.x_from = x;
    v.to = y;
    v.end = end;
    while (next_chunk(&v))
        for (v.group = 0; v.group < c->group; v.group++) {
            cr_parallel_run(read_cols, &v, threads(&v));
            cr_gemm(CR_N, CR_T, v.pixels, v.o, v.k, v.cols,
                    w + v.group * v.o * v.k, false, v.rows);
            cr_parallel_run(write_rows, &v, threads(&v));
        }
}

static void input(const struct cr_conv *c, const cr_real *dy, const cr_real *w,
                  const struct cr_epilogue *end, cr_real *dx,
                  void *scratch)
{
    struct im2col v = start(c, scratch);
    size_t bytes = (size_t)(c->n * c->ci * product(c->in)) * sizeof *dx;

    v.y_from = dy;
    v.to = dx;
    v.end = end;
    if (!end->add)
        memset(dx, 0, bytes);
    else if (end->add != dx)
        memcpy(dx, end->add, bytes);
    while (next_chunk(&v))
        for (v.group = 0; v.group < c->group; v.group++) {
            cr_parallel_run(read_rows, &v, threads(&v));
            cr_gemm(CR_N, CR_N, v.pixels, v.k, v.o, v.rows,
                    w + v.group * v.o * v.k, false, v.cols);
            cr_parallel_run(add_cols, &v, threads(&v));
        }
    if (end->bias || end->act != CR_ACT_NONE || end->mask) {
        v.pixels = c->n * c->ci * product(c->in);
        cr_parallel_run(finish_input, &v,
                        v.pixels < 16384 ? 1 : cr_thread_count());
    }
}

static void weight(const struct cr_conv *c, const cr_real *x, const cr_real *dy,
                   cr_real alpha, bool add, cr_real *dw, void *scratch)
{
    struct im2col v = start(c, scratch);

    v.x_from = x;
    v.y_from = dy;
    while (next_chunk(&v))
        for (v.group = 0; v.group < c->group; v.group++) {
            struct cr_gemm g = { .ta = CR_T,
                                 .tb = CR_N,
                                 .m = v.o,
                                 .n = v.k,
                                 .k = v.pixels,
                                 .a = v.rows,
                                 .b = v.cols,
                                 .alpha = alpha,
                                 .accumulate = add || v.from > 0,
                                 .c = dw + v.group * v.o * v.k };

            cr_parallel_run(read_cols, &v, threads(&v));
            cr_parallel_run(read_rows, &v, threads(&v));
            cr_gemms(&g, 1);
        }
}

static size_t thread_scratch(const struct cr_conv *c)
{
    (void)c;
    return cr_gemm_thread_scratch();
}

const struct cr_conv_kernel cr_conv_im2col = {
    .head = { .name = "conv_im2col" },
    .takes = CR_END_SCALE | CR_END_BIAS | CR_END_ADD | CR_END_ACT | CR_END_MASK,
    .scratch = scratch_bytes,
    .thread_scratch = thread_scratch,
    .forward = forward,
    .input = input,
    .weight = weight,
};

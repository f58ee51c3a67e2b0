/*
 * Convolution of kernel 1, channels last, as products over pixels:
 *
 *   y = x W'    dx = dy W    dW = dy' x
 *
 * with x (pixels, channels in), y (pixels, channels out) and W (channels out,
 * channels in). No copy of an image is made, which costs conv_nhwc as much as
 * it multiplies where channels are few.
 *
 * A gradient of few weights has too few sums for all threads: they are summed
 * over parts of the pixels, as many as the sizes say.
 */
#include <string.h>

#include "base/thread_pool.h"
#include "kernels/conv_simd.h"
#include "kernels/parallel_for.h"

#define PARTS 8         /* of the pixels */
#define WHOLE (1 << 16) /* weights that are summed at once */

static int64_t pixels(const struct cr_conv *c)
{
    return c->n * c->out[0] * c->out[1] * c->out[2];
}

static bool accepts(const void *what)
{
    const struct cr_conv *c = what;
    int i;

    for (i = 0; i < 3; i++)
        if (c->kernel[i] != 1 || c->stride[i] != 1 || c->pad_before[i] != 0 ||
            c->in[i] != c->out[i])
            return false;
    return conv_lanes() > 0 && c->group == 1 && pixels(c) > 0 &&
           c->x == CR_CHANNELS_LAST && c->y == CR_CHANNELS_LAST;
}

static size_t numbers(int64_t n)
{
    return (size_t)n * sizeof(cr_real);
}

static int64_t parts(const struct cr_conv *c)
{
    return c->ci * c->co >= WHOLE ? 1 : conv_min(PARTS, pixels(c));
}

static size_t scratch(const struct cr_conv *c)
{
    return parts(c) > 1 ? numbers(parts(c) * c->ci * c->co) : 0;
}

static size_t thread_scratch(const struct cr_conv *c)
{
    (void)c;
    return cr_gemm_thread_scratch();
}

/* ---- what follows a product ---- */

struct copy {
    const cr_real *from;
    cr_real *to;
};

static void copy_range(void *ctx, int64_t from, int64_t to)
{
    const struct copy *c = ctx;

    memcpy(c->to + from, c->from + from, numbers(to - from));
}

/* A product adds to what is there, and to another tensor after an activation
 * only. */
static void add(struct cr_gemm *g, const struct cr_epilogue *end)
{
    if (!end->add)
        return;
    if (end->add != g->c && !end->map && !end->mask &&
        end->act == CR_ACT_NONE) {
        g->add = end->add;
        return;
    }
    if (end->add != g->c)
        cr_parallel_for(g->m * g->n, 0.2, &(struct copy){ end->add, g->c },
                        copy_range);
    g->accumulate = true;
}

static void multiply(const struct cr_conv *c, bool low,
                     const struct cr_epilogue *end, struct cr_gemm *g)
{
    g->low = c->low;
    g->a_low = low ? CR_LOW_TWO_BYTES : CR_LOW_NONE;
    g->bias = end->bias;
    g->act = end->act;
    g->mask = end->mask;
    g->map = end->map;
    g->map_is = end->map_is;
    g->map_attr = end->attr;
    g->map_to = end->map_to != g->c ? end->map_to : NULL;
    add(g, end);
    cr_gemms(g, 1);
}

/* ---- all three ---- */

/* W', which a product reads in the order in which it lies. */
static size_t packed_bytes(const struct cr_conv *c)
{
    return numbers(c->ci * c->co);
}

static void pack(const struct cr_conv *c, const cr_real *w, cr_real *packed)
{
    int64_t i, j;

    for (i = 0; i < c->co; i++)
        for (j = 0; j < c->ci; j++)
            packed[j * c->co + i] = w[i * c->ci + j];
}

static void forward(const struct cr_conv *c, const cr_real *x, const cr_real *w,
                    const cr_real *packed, const struct cr_epilogue *end,
                    cr_real *y, void *at)
{
    struct cr_gemm g = cr_product(CR_N, packed ? CR_N : CR_T, pixels(c), c->co,
                                  c->ci, x, packed ? packed : w, false, y);

    (void)at;
    multiply(c, c->x_low, end, &g);
}

static void input(const struct cr_conv *c, const cr_real *dy, const cr_real *w,
                  const struct cr_epilogue *end, cr_real *dx, void *at)
{
    struct cr_gemm g = cr_product(CR_N, CR_N, pixels(c), c->ci, c->co, dy, w,
                                  false, dx);

    (void)at;
    multiply(c, c->dy_low, end, &g);
}

/* Pixels from `at` on of a tensor with N channels. */
static const cr_real *from_pixel(const cr_real *x, bool low, int64_t at,
                                 int64_t channels)
{
    return low ? (const cr_real *)(const void *)(
                     (const uint16_t *)(const void *)x + at * channels)
               : x + at * channels;
}

static void weight(const struct cr_conv *c, const cr_real *x, const cr_real *dy,
                   cr_real alpha, bool accumulate, cr_real *dw, void *at)
{
    int64_t n = parts(c), all = pixels(c), size = c->ci * c->co, i;
    struct cr_gemm g[PARTS] = { { .m = 0 } };
    cr_real *sum = n > 1 ? at : dw;

    for (i = 0; i < n; i++) {
        int64_t from = all * i / n, to = all * (i + 1) / n;

        g[i] = cr_product(CR_T, CR_N, c->co, c->ci, to - from,
                          from_pixel(dy, c->dy_low, from, c->co),
                          from_pixel(x, c->x_low, from, c->ci),
                          n == 1 && accumulate, sum + i * size);
        g[i].alpha = alpha;
        g[i].low = c->low;
        g[i].a_low = c->dy_low ? CR_LOW_TWO_BYTES : CR_LOW_NONE;
        g[i].b_low = c->x_low ? CR_LOW_TWO_BYTES : CR_LOW_NONE;
    }
    cr_gemms(g, (int)n);
    if (n > 1)
        cr_sum_rows(n, size, CR_REAL, sum, 1, accumulate, dw);
}

const struct cr_conv_kernel cr_conv_pointwise = {
    .head = { .name = "conv_pointwise", .blas = "own", .accepts = accepts },
    .takes = CR_END_SCALE | CR_END_BIAS | CR_END_ADD | CR_END_ACT | CR_END_MAP |
             CR_END_KEEP | CR_END_MASK,
    .low_x = true,
    .low_dy = true,
    .scratch = scratch,
    .thread_scratch = thread_scratch,
    .packed = packed_bytes,
    .pack = pack,
    .forward = forward,
    .input = input,
    .weight = weight,
};

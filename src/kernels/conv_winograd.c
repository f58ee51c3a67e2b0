/*
 * What the Winograd kernels are given, in terms of a convolution: forward and
 * the gradient of the input are one kernel, over x with the weight and over dy
 * with the weight turned.
 *
 * Its numbers are about as exact as those of the direct kernels, with shorter
 * sums of more terms: an output is a sum of differences of its tile's pixels,
 * so its rounding errors are relative to the largest of these. A pixel that an
 * output does not see is never part of it: what is not finite reaches the same
 * outputs as in the direct kernels, but infinity mostly as NaN.
 */
#include "kernels/conv_winograd.h"

#include "kernels/conv_simd.h"

/* Tiles at once: what they take stays in level 1, where that leaves enough of
 * them for a product, or more where their weights do not stay in level 2. */
#define TILE_BYTES (16 << 10)
#define NEAR_TILES 14
#define FAR_BYTES (512 << 10)
#define FAR_TILES 48
#define CHUNK_BYTES (1 << 20)  /* of partial sums */
#define UNIT 64 /* channels of either kind in one unit of sums */

static bool accepts(const void *what)
{
    const struct cr_conv *c = what;

    return conv_lanes() > 0 && c->n > 0 && c->x == CR_CHANNELS_LAST &&
           c->y == CR_CHANNELS_LAST && conv_is_flat(c) && c->group == 1 &&
           c->kernel[H] == 3 && c->kernel[W] == 3 && c->stride[H] == 1 &&
           c->stride[W] == 1 && c->dilation[H] == 1 && c->dilation[W] == 1;
}

/* Numbers of the transformed weight. */
static int64_t weights(int64_t cout, int64_t cin)
{
    return conv_up(cout, conv_lanes()) * conv_lanes() * cin *
           CR_WINOGRAD_POINTS;
}

/* Tiles that a thread works on at once: `numbers` belong to each, `shared` to
 * all, and there are `all` rows of tiles. */
static void size_parts(struct cr_winograd_source *s, int64_t all,
                       int64_t numbers, int64_t shared)
{
    int64_t size = (int64_t)sizeof(cr_real);
    int64_t most = conv_max(TILE_BYTES / (numbers * size),
                            shared * size > FAR_BYTES ? FAR_TILES : NEAR_TILES);

    s->parts = conv_up(s->tile_cols, most);
    s->cols = conv_up(s->tile_cols, s->parts);
    s->parts = conv_up(s->tile_cols, s->cols);
    s->rows = s->parts > 1 ? 1 : conv_max(most / conv_max(s->cols, 1), 1);
    s->rows = conv_min(s->rows, conv_max(all, 1));
}

static int64_t up_to(int64_t n, int64_t by)
{
    return conv_up(n, by) * by;
}

/* Images whose sizes are those of x, or in the gradient of the input of dy. */
static struct cr_winograd_source source(const struct cr_conv *c, const void *x,
                                        bool of_dy)
{
    const int64_t *in = of_dy ? c->out : c->in, *out = of_dy ? c->in : c->out;
    bool low = of_dy ? c->dy_low : c->x_low;
    int64_t cout = of_dy ? c->ci : c->co, lanes = conv_lanes();
    struct cr_winograd_source s = {
        .x = x,
        .stored = low ? c->low : CR_REAL,
        .n = c->n,
        .h = in[H],
        .w = in[W],
        .channels = of_dy ? c->co : c->ci,
        .top = of_dy ? 2 - c->pad_before[H] : c->pad_before[H],
        .left = of_dy ? 2 - c->pad_before[W] : c->pad_before[W],
        .tile_rows = conv_up(out[H], 2),
        .tile_cols = conv_up(out[W], 2)
    };

    /* of images: what threads share out evenly */
    size_parts(&s, conv_up(s.n * s.tile_rows, cr_thread_count()),
               4 * (up_to(s.channels, CR_WINOGRAD_BLOCK) +
                    conv_min(up_to(cout, lanes), 2 * lanes) +
                    up_to(cout, lanes)),
               weights(cout, s.channels));
    return s;
}

/* Of a thread: a row of points of both kinds, and pixels. */
static size_t room(const struct cr_winograd_source *s, int64_t channels,
                   int64_t pixels)
{
    int64_t n = s->rows * s->cols;
    int64_t v = cr_winograd_plane(n * up_to(channels, CR_WINOGRAD_BLOCK));
    int64_t m = cr_winograd_plane(n * 2 * conv_lanes());

    return (size_t)(4 * (v + m + n * up_to(pixels, conv_lanes()))) *
           sizeof(cr_real);
}

CONV_PART(winograd, apply)
CONV_PART(winograd, sums)
CONV_PART(winograd, reduce)
CONV_PART(winograd, weights)

static void transform(const struct cr_conv *c, const cr_real *w, bool turned,
                      cr_real *u)
{
    struct cr_winograd_weights g = { w, c->co, c->ci, turned, u };

    cr_parallel_run(weights_part, &g,
                    c->co * c->ci < 2048 ? 1 : cr_thread_count());
}

static void apply(const struct cr_conv *c, const void *x, bool of_dy,
                  const cr_real *u, const struct cr_epilogue *end, void *y)
{
    struct cr_winograd_apply a = { .s = source(c, x, of_dy),
                                   .rows = of_dy ? c->in[H] : c->out[H],
                                   .cols = of_dy ? c->in[W] : c->out[W],
                                   .cout = of_dy ? c->ci : c->co,
                                   .u = u,
                                   .y = y,
                                   .end = conv_end(end, y),
                                   .y_stored = c->to_low ? c->low : CR_REAL,
                                   .mask_stored =
                                       c->mask_low ? c->low : CR_REAL };

    a.room = room(&a.s, a.s.channels, a.cout);
    cr_parallel_run(apply_part, &a, conv_threads(c));
}

static size_t packed_bytes(const struct cr_conv *c)
{
    return (size_t)weights(c->co, c->ci) * sizeof(cr_real) + 64;
}

static void pack(const struct cr_conv *c, const cr_real *w, cr_real *packed)
{
    char *at = (char *)packed;

    transform(c, w, false, conv_carve(&at, 0));
}

static void forward(const struct cr_conv *c, const cr_real *x, const cr_real *w,
                    const cr_real *packed, const struct cr_epilogue *end,
                    cr_real *y, void *scratch)
{
    char *at = packed ? (char *)packed : scratch;
    cr_real *u = conv_carve(&at, 0);

    if (!packed)
        transform(c, w, false, u);
    apply(c, x, false, u, end, y);
}

static void input(const struct cr_conv *c, const cr_real *dy, const cr_real *w,
                  const struct cr_epilogue *end, cr_real *dx, void *scratch)
{
    char *at = scratch;
    cr_real *u = conv_carve(&at, 0);

    transform(c, w, true, u);
    apply(c, dy, true, u, end, dx);
}

/* ---- the gradient of the weight ---- */

static struct cr_winograd_sums sums(const struct cr_conv *c)
{
    int64_t blocks = conv_up(c->ci, CR_WINOGRAD_BLOCK);
    int64_t sets = conv_up(c->co, 2 * conv_lanes()), bytes;
    struct cr_winograd_sums g = { .s = source(c, NULL, false),
                                  .rows = c->out[H],
                                  .cols = c->out[W],
                                  .cout = c->co,
                                  .dy_stored = c->dy_low ? c->low : CR_REAL };

    g.c_groups = conv_up(c->ci, UNIT);
    g.k_groups = conv_up(c->co, UNIT);
    g.unit_blocks = conv_up(blocks, g.c_groups);
    g.unit = CR_WINOGRAD_POINTS * conv_up(sets, g.k_groups) * g.unit_blocks *
             CR_WINOGRAD_BLOCK * 2 * conv_lanes();
    bytes = g.c_groups * g.k_groups * g.unit * (int64_t)sizeof(cr_real);
    g.chunks = conv_min(conv_max(CHUNK_BYTES / bytes, 1),
                        conv_min(c->n, CONV_CHUNKS));
    size_parts(&g.s, c->n / g.chunks * g.s.tile_rows,
               4 * (g.unit_blocks * CR_WINOGRAD_BLOCK + 2 * conv_lanes()),
               FAR_BYTES);
    g.room = room(&g.s, g.unit_blocks * CR_WINOGRAD_BLOCK, 0);
    return g;
}

static void weight(const struct cr_conv *c, const cr_real *x, const cr_real *dy,
                   cr_real alpha, bool add, cr_real *dw, void *scratch)
{
    struct cr_winograd_sums g = sums(c);
    char *at = scratch;

    g.s.x = x;
    g.dy = dy;
    g.to = conv_carve(&at, 0);
    g.alpha = alpha;
    g.dw = dw;
    g.add = add;
    cr_parallel_run(sums_part, &g, conv_threads(c));
    cr_parallel_run(reduce_part, &g,
                    c->co * c->ci < 1024 ? 1 : cr_thread_count());
}

static size_t scratch_bytes(const struct cr_conv *c)
{
    struct cr_winograd_sums g = sums(c);
    int64_t n = conv_max(weights(c->co, c->ci), weights(c->ci, c->co));

    n = conv_max(n, g.chunks * g.c_groups * g.k_groups * g.unit);
    return (size_t)n * sizeof(cr_real) + 64;
}

static size_t thread_scratch(const struct cr_conv *c)
{
    struct cr_winograd_source x = source(c, NULL, false);
    struct cr_winograd_source dy = source(c, NULL, true);
    size_t a = room(&x, c->ci, c->co), b = room(&dy, c->co, c->ci);
    size_t d = sums(c).room;

    return a > b && a > d ? a : b > d ? b : d;
}

const struct cr_conv_kernel cr_conv_winograd = {
    .head = { .name = "conv_winograd", .blas = "own", .accepts = accepts },
    .takes = CR_END_SCALE | CR_END_BIAS | CR_END_ADD | CR_END_ACT |
             CR_END_MAP | CR_END_KEEP | CR_END_MASK,
    .low_x = true,
    .low_dy = true,
    .low_to = true,
    .scratch = scratch_bytes,
    .thread_scratch = thread_scratch,
    .packed = packed_bytes,
    .pack = pack,
    .forward = forward,
    .input = input,
    .weight = weight,
};

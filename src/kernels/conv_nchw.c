/*
 * What the planar kernels are given, in terms of a convolution. The gradient
 * of the input is the same kernel on dy with zeros around it and the weight
 * turned: tap (i, j) of output (0, 0) reads dy at before - dilation (i, j).
 */
#include "kernels/conv_nchw.h"

#include "kernels/conv_simd.h"

static bool accepts(const void *what)
{
    const struct cr_conv *c = what;
    return conv_lanes() > 0 && c->x == CR_ROW_MAJOR && c->y == CR_ROW_MAJOR &&
           conv_is_flat(c) && c->stride[H] == 1 && c->stride[W] == 1 &&
           conv_copy_fits(c);
}

/* ---- scratch ---- */

static int64_t units(const struct cr_conv *c)
{
    return c->group * conv_up(c->co / c->group, CR_CONV_NCHW_SUMS) *
           (c->ci / c->group);
}

static int64_t unit_bytes(const struct cr_conv *c)
{
    return conv_taps(c) * CR_CONV_NCHW_SUMS * conv_lanes() *
           (int64_t)sizeof(cr_real);
}

static int64_t chunks(const struct cr_conv *c)
{
    return units(c) * unit_bytes(c) <= CONV_PARTIAL_BYTES
               ? conv_min(c->n, CONV_CHUNKS)
               : 1;
}

static size_t scratch_bytes(const struct cr_conv *c)
{
    int64_t weights =
        c->co * (c->ci / c->group) * conv_taps(c) * (int64_t)sizeof(cr_real);
    int64_t sums = chunks(c) * units(c) * unit_bytes(c);

    return (size_t)(2 * conv_taps(c) * (int64_t)sizeof(int64_t) +
                    conv_max(weights, sums) + 3 * 64);
}

/* ---- running ---- */

CONV_PART(conv_nchw, apply)
CONV_PART(conv_nchw, sums)
CONV_PART(conv_nchw, reduce)

/* ---- apply ---- */

/* Whether outputs look over the edges decides whether there is a copy. */
static void size_copy(struct cr_conv_nchw_source *s, int64_t rows, int64_t cols)
{
    s->rows = rows;
    s->pitch = cols;
    s->copied = s->lo_row < 0 || s->lo_col < 0 || s->lo_row + rows > s->h ||
                s->lo_col + cols > s->w;
    if (!s->copied)
        s->pitch = s->w;
}

static struct cr_conv_nchw_source source_of_x(const struct cr_conv *c,
                                              const cr_real *x)
{
    struct cr_conv_nchw_source s = { .x = x,
                                     .n = c->n,
                                     .groups = c->group,
                                     .channels = c->ci / c->group,
                                     .h = c->in[H],
                                     .w = c->in[W],
                                     .lo_row = -c->pad_before[H],
                                     .lo_col = -c->pad_before[W] };

    size_copy(&s, c->out[H] + (c->kernel[H] - 1) * c->dilation[H],
              c->out[W] + (c->kernel[W] - 1) * c->dilation[W]);
    return s;
}

static struct cr_conv_nchw_source source_of_dy(const struct cr_conv *c,
                                               const cr_real *dy)
{
    int64_t rows = (c->kernel[H] - 1) * c->dilation[H];
    int64_t cols = (c->kernel[W] - 1) * c->dilation[W];
    struct cr_conv_nchw_source s = { .x = dy,
                                     .n = c->n,
                                     .groups = c->group,
                                     .channels = c->co / c->group,
                                     .h = c->out[H],
                                     .w = c->out[W],
                                     .lo_row = c->pad_before[H] - rows,
                                     .lo_col = c->pad_before[W] - cols };

    size_copy(&s, c->in[H] + rows, c->in[W] + cols);
    return s;
}

/* Bytes of `n` copies of the planes of one group of one image. */
static size_t copies(const struct cr_conv_nchw_source *s, int64_t n)
{
    return s->copied ? (size_t)(n * s->channels * s->rows * s->pitch) *
                           sizeof(cr_real)
                     : 0;
}

/* Images whose weight's gradients a thread sums up at once. */
static int64_t together(const struct cr_conv *c,
                        const struct cr_conv_nchw_source *s)
{
    int64_t bytes = (s->channels * s->rows * s->pitch +
                     c->co / c->group * c->out[H] * c->out[W]) *
                    (int64_t)sizeof(cr_real);

    return conv_max(1, conv_min(CONV_SUM_BYTES / bytes, CR_CONV_NCHW_TOGETHER));
}

static size_t thread_scratch(const struct cr_conv *c)
{
    struct cr_conv_nchw_source x = source_of_x(c, NULL);
    struct cr_conv_nchw_source dy = source_of_dy(c, NULL);
    size_t sums = copies(&x, together(c, &x)), apply = copies(&dy, 1);

    return sums > apply ? sums : apply;
}

/* w at (out, channel, tap) is from[out * o_step + channel * c_step + tap]. */
static void pack(const struct cr_conv_nchw_apply *g, const cr_real *w,
                 int64_t o_step, int64_t c_step, int64_t group_step,
                 cr_real *to)
{
    int64_t group, o, c, k, i, n;

    for (group = 0; group < g->s.groups; group++, w += group_step)
        for (o = 0; o < g->cout; o += n) {
            n = conv_min(g->cout - o, CR_CONV_NCHW_OUTS);
            n = n == 7 ? 6 : n == 5 ? 4 : n;
            for (c = 0; c < g->s.channels; c++)
                for (k = 0; k < g->taps; k++)
                    for (i = 0; i < n; i++)
                        *to++ = w[(o + i) * o_step + c * c_step + k];
        }
}

/* Threads share images, or their rows where there are fewer. */
static void apply(const struct cr_conv *c, struct cr_conv_nchw_apply *g)
{
    int n = conv_threads(c);

    g->room = copies(&g->s, 1);
    g->bands = g->s.n * g->s.groups >= n ? 1 : conv_min(n, conv_up(g->rows, 4));
    cr_parallel_run(apply_part, g, n);
}

/* Taps and weights lie at `at`, where they are packed already or, with w, are
 * packed now. */
static struct cr_conv_nchw_apply forward_of(const struct cr_conv *c,
                                            const cr_real *x, const cr_real *w,
                                            char *at)
{
    int64_t cig = c->ci / c->group, cog = c->co / c->group, taps = conv_taps(c);
    int64_t *tap = conv_carve(&at, taps * (int64_t)sizeof *tap);
    int64_t *row = conv_carve(&at, taps * (int64_t)sizeof *row), i, j;
    cr_real *packed = conv_carve(&at, 0);
    struct cr_conv_nchw_apply g = { .s = source_of_x(c, x),
                                    .rows = c->out[H],
                                    .cols = c->out[W],
                                    .cout = cog,
                                    .taps = taps,
                                    .tap = tap,
                                    .tap_row = row,
                                    .w = packed };

    for (i = 0; i < c->kernel[H] && w; i++)
        for (j = 0; j < c->kernel[W]; j++) {
            row[i * c->kernel[W] + j] = i * c->dilation[H] - c->pad_before[H];
            tap[i * c->kernel[W] + j] =
                i * c->dilation[H] * g.s.pitch + j * c->dilation[W];
        }
    if (w)
        pack(&g, w, cig * taps, taps, cog * cig * taps, packed);
    return g;
}

static size_t packed_bytes(const struct cr_conv *c)
{
    int64_t weights = c->co * (c->ci / c->group) * conv_taps(c);

    return (size_t)(2 * conv_taps(c) * (int64_t)sizeof(int64_t) +
                    weights * (int64_t)sizeof(cr_real) + 3 * 64);
}

static void pack_forward(const struct cr_conv *c, const cr_real *w,
                         cr_real *to)
{
    forward_of(c, NULL, w, (char *)to);
}

static void forward(const struct cr_conv *c, const cr_real *x, const cr_real *w,
                    const cr_real *packed, const struct cr_epilogue *end,
                    cr_real *y, void *scratch)
{
    struct cr_conv_nchw_apply g = packed
                                      ? forward_of(c, x, NULL, (char *)packed)
                                      : forward_of(c, x, w, scratch);

    g.y = y;
    g.end = *end;
    apply(c, &g);
}

static void input(const struct cr_conv *c, const cr_real *dy, const cr_real *w,
                  const struct cr_epilogue *end, cr_real *dx,
                  void *scratch)
{
    int64_t cig = c->ci / c->group, cog = c->co / c->group, taps = conv_taps(c);
    char *at = scratch;
    int64_t *tap = conv_carve(&at, taps * (int64_t)sizeof *tap);
    int64_t *row = conv_carve(&at, taps * (int64_t)sizeof *row), i, j;
    cr_real *packed = conv_carve(&at, 0);
    struct cr_conv_nchw_apply g = { .s = source_of_dy(c, dy),
                                    .rows = c->in[H],
                                    .cols = c->in[W],
                                    .cout = cig,
                                    .taps = taps,
                                    .tap = tap,
                                    .tap_row = row,
                                    .w = packed,
                                    .y = dx,
                                    .end = *end };

    for (i = 0; i < c->kernel[H]; i++)
        for (j = 0; j < c->kernel[W]; j++) {
            row[i * c->kernel[W] + j] = c->pad_before[H] - i * c->dilation[H];
            tap[i * c->kernel[W] + j] =
                (row[i * c->kernel[W] + j] - g.s.lo_row) * g.s.pitch +
                c->pad_before[W] - j * c->dilation[W] - g.s.lo_col;
        }
    pack(&g, w, taps, cig * taps, cog * cig * taps, packed);
    apply(c, &g);
}

/* ---- the gradient of the weight ---- */

static void weight(const struct cr_conv *c, const cr_real *x, const cr_real *dy,
                   cr_real alpha, bool add, cr_real *dw, void *scratch)
{
    int64_t taps = conv_taps(c), i, j;
    char *at = scratch;
    int64_t *tap = conv_carve(&at, taps * (int64_t)sizeof *tap);
    struct cr_conv_nchw_sums g = { .s = source_of_x(c, x),
                                   .dy = dy,
                                   .rows = c->out[H],
                                   .cols = c->out[W],
                                   .cout = c->co / c->group,
                                   .kernel_rows = c->kernel[H],
                                   .kernel_cols = c->kernel[W],
                                   .tap = tap,
                                   .chunks = chunks(c),
                                   .units = units(c),
                                   .to = conv_carve(&at, 0),
                                   .alpha = alpha,
                                   .dw = dw,
                                   .add = add };

    for (i = 0; i < c->kernel[H]; i++)
        for (j = 0; j < c->kernel[W]; j++)
            tap[i * c->kernel[W] + j] =
                i * c->dilation[H] * g.s.pitch + j * c->dilation[W];
    g.together = together(c, &g.s);
    g.room = copies(&g.s, g.together);
    cr_parallel_run(sums_part, &g, conv_threads(c));
    cr_parallel_run(
        reduce_part, &g,
        g.units * unit_bytes(c) * g.chunks < 65536 ? 1 : cr_thread_count());
}

const struct cr_conv_kernel cr_conv_nchw = {
    .head = { .name = "conv_nchw", .blas = "own", .accepts = accepts },
    .takes = CR_END_SCALE | CR_END_BIAS | CR_END_ADD | CR_END_ACT | CR_END_MAP |
             CR_END_KEEP | CR_END_MASK,
    .scratch = scratch_bytes,
    .thread_scratch = thread_scratch,
    .packed = packed_bytes,
    .pack = pack_forward,
    .forward = forward,
    .input = input,
    .weight = weight,
};

/*
 * What the direct kernels are given, in terms of a convolution:
 *
 *   forward   one grid. Output (r, q) and tap (i, j) read the source at row
 *             stride r + dilation i - before, so a row of the copy has its
 *             columns sorted by their remainder by the stride.
 *   input     the source is dy and the weight is turned. Output rows h of dx
 *             with h mod stride = a see the taps i with a + before - dilation
 *             i divisible by the stride, at row h / stride + (a + before -
 *             dilation i) / stride of dy: one grid for each remainder.
 *   weight    copies x as forward does.
 *
 * In training weights are packed in every call: they are small, and have just
 * changed.
 *
 * Three rows: one multiplies float32, and reads what is stored in two bytes as
 * that; the others multiply pairs of bfloat16, one of them by AMX. That one
 * leaves the gradient of the weight to float32: pairs are of columns there,
 * and lie across its registers.
 */
#include "kernels/conv_nhwc.h"

#include <string.h>

#include "kernels/conv_simd.h"
#include "kernels/gemm.h"
#include "num/low_precision.h"

#define COPY_BYTES (384 << 10) /* of a band: half of a level 2 */
#define TILE_BYTES (32 * CR_CONV_NHWC_BLOCK * 4) /* columns of a tile */

static bool accepts(const void *what)
{
    const struct cr_conv *c = what;
    return conv_lanes() > 0 && c->x == CR_CHANNELS_LAST &&
           c->y == CR_CHANNELS_LAST && conv_is_flat(c) && conv_copy_fits(c);
}

static bool accepts_pairs(const void *what)
{
    const struct cr_conv *c = what;

    return c->bf16 && accepts(c) && cr_gemm_bf16_available();
}

/* With 16 words of a column in a register, or all that there are. */
static bool fills_tiles(int64_t channels)
{
    int64_t n = conv_up(channels, 2);

    return n <= CR_CONV_NHWC_BLOCK || n % CR_CONV_NHWC_BLOCK == 0;
}

static bool accepts_tiles(const void *what)
{
    const struct cr_conv *c = what;

    return accepts_pairs(what) && cr_gemm_bf16_has_amx() &&
           fills_tiles(c->ci / c->group) && fills_tiles(c->co / c->group);
}

/* Words of a number of channels. */
static int64_t words(const struct cr_conv *c, int64_t channels)
{
    return c->in_pairs ? conv_up(channels, 2) : channels;
}

/* Division that rounds down, of numbers of either sign. */
static int64_t floor_div(int64_t a, int64_t b)
{
    return a >= 0 ? a / b : -((-a + b - 1) / b);
}

static int64_t mod(int64_t a, int64_t b)
{
    return a - floor_div(a, b) * b;
}

/* ---- scratch ---- */

/* Words of all packed weights of one grid, in groups of two vectors. */
static int64_t packed(int64_t cout, int64_t cin, int64_t taps)
{
    return conv_up(cout, conv_lanes()) * conv_lanes() * cin * taps;
}

static int64_t units(const struct cr_conv *c)
{
    return c->group * conv_up(c->co / c->group, 2 * conv_lanes()) *
           conv_up(c->ci / c->group, CR_CONV_NHWC_BLOCK);
}

static int64_t unit_numbers(const struct cr_conv *c)
{
    return conv_taps(c) * CR_CONV_NHWC_BLOCK * 2 * conv_lanes();
}

/* Partial sums are cheap where the weight is small; where it is large there
 * are units enough for all threads. */
static int64_t chunks(const struct cr_conv *c)
{
    int64_t bytes = units(c) * unit_numbers(c) * (int64_t)sizeof(cr_real);

    return bytes <= CONV_PARTIAL_BYTES ? conv_min(c->n, CONV_CHUNKS) : 1;
}

static int64_t grids(const struct cr_conv *c)
{
    return conv_min(c->stride[H], c->in[H]) * conv_min(c->stride[W], c->in[W]);
}

static int64_t numbers_up(int64_t bytes)
{
    return conv_up(bytes, 64) * 64;
}

/* ---- few channels in the gradient of the input ---- */

/* Numbers of z per column of dy: lanes of (kernel column, channel). */
static int64_t fold_lanes(const struct cr_conv *c)
{
    return conv_up(c->kernel[W] * c->ci, conv_lanes()) * conv_lanes();
}

/* Vectors per number of dy are those of the kernel's columns and channels
 * together, else of each column on its own, over a row that is longer by the
 * padding. The sums that follow cost about as much as a quarter of it. */
static bool folds(const struct cr_conv *c)
{
    int64_t lanes = conv_lanes();
    int64_t alone = conv_up(c->in[W], c->stride[W]) * c->kernel[W] *
                    conv_up(c->ci, lanes);

    return c->group == 1 && c->ci <= lanes && c->kernel[W] > 1 &&
           4 * c->out[W] * (fold_lanes(c) / lanes) <= 3 * alone;
}

static int64_t fold_places(const struct cr_conv *c)
{
    return c->in[W] + 1 + c->in[W] * c->kernel[W];
}

static size_t packed_bytes(const struct cr_conv *c)
{
    int64_t weights =
        c->group * packed(c->co / c->group, words(c, c->ci / c->group),
                          conv_taps(c));

    return (size_t)(2 * numbers_up(conv_taps(c) * (int64_t)sizeof(int64_t)) +
                    weights * (int64_t)sizeof(cr_real) + 128);
}

static size_t scratch_bytes(const struct cr_conv *c)
{
    int64_t cig = c->ci / c->group, cog = c->co / c->group, taps = conv_taps(c);
    int64_t size = (int64_t)sizeof(cr_real);
    int64_t forward = c->group * packed(cog, words(c, cig), taps) * size;
    int64_t input = c->group * packed(cig, words(c, cog), taps) * size;
    int64_t sums = chunks(c) * units(c) * unit_numbers(c) * size;
    int64_t tables =
        numbers_up(2 * taps * (int64_t)sizeof(int64_t)) +
        numbers_up(grids(c) * (int64_t)sizeof(struct cr_conv_nhwc_grid));

    if (folds(c)) {
        input = packed(fold_lanes(c), words(c, cog), c->kernel[H]) * size;
        tables += numbers_up(fold_places(c) * (int64_t)sizeof(int64_t));
    }
    return (size_t)(tables + conv_max(conv_max(forward, input), sums) + 128);
}

/* ---- the source ---- */

/* The copy's size, once rows (lo_row .. lo_row + high for output row 0) and
 * columns (`width` from lo_col on) are known. apply passes over all blocks
 * of a band once; sums pass over one block and `extra` bytes of dy per row
 * many times. */
static void size_copy(struct cr_conv_nhwc_source *s, int64_t rows, int64_t high,
                      int64_t width, int64_t extra)
{
    int64_t row, units = s->n * s->groups, threads = cr_thread_count();

    s->blocks = conv_up(s->words, CR_CONV_NHWC_BLOCK);
    s->quotients = conv_up(width, s->step_col);
    s->pitch = s->quotients * s->step_col * CR_CONV_NHWC_BLOCK;
    row = s->pitch * (int64_t)sizeof(cr_real);
    if (extra == 0)
        s->band = (COPY_BYTES / (row * s->blocks) - high - 1) / s->step_row + 1;
    else
        s->band = (CONV_SUM_BYTES - high * row) / (row * s->step_row + extra);
    s->band = conv_max(conv_min(s->band, rows), 1);
    if (units < threads)
        s->band = conv_min(s->band, conv_up(rows, threads));
    s->bands = conv_up(rows, s->band);
    s->band = conv_up(rows, s->bands);
    s->bands = conv_up(rows, s->band);
    s->rows = (s->band - 1) * s->step_row + high + 1;
    s->plane = s->rows * s->pitch;
}

static struct cr_conv_nhwc_source source_of_x(const struct cr_conv *c,
                                              const cr_real *x, int64_t extra)
{
    int64_t cig = c->ci / c->group;
    bool columns = extra > 0; /* of the sums */
    struct cr_conv_nhwc_source s = { .x = x,
                                     .stored = c->x_low ? c->low : CR_REAL,
                                     .columns = columns,
                                     .n = c->n,
                                     .h = c->in[H],
                                     .w = c->in[W],
                                     .pixel = c->ci,
                                     .groups = c->group,
                                     .channels = cig,
                                     .words = columns ? cig : words(c, cig),
                                     .lo_row = -c->pad_before[H],
                                     .lo_col = -c->pad_before[W],
                                     .step_row = c->stride[H],
                                     .step_col = c->stride[W] };

    size_copy(&s, c->out[H], (c->kernel[H] - 1) * c->dilation[H],
              (c->out[W] - 1) * c->stride[W] +
                  (c->kernel[W] - 1) * c->dilation[W] + 1,
              extra);
    return s;
}

/* Where tap (i, j) of output (0, 0) lies in the copy of x. */
static int64_t tap_of_x(const struct cr_conv *c,
                        const struct cr_conv_nhwc_source *s, int64_t i,
                        int64_t j)
{
    int64_t col = j * c->dilation[W];

    return i * c->dilation[H] * s->pitch +
           (col % s->step_col * s->quotients + col / s->step_col) *
               CR_CONV_NHWC_BLOCK;
}

/* Bytes of `n` copies. */
static size_t copies(const struct cr_conv_nhwc_source *s, int64_t n)
{
    return (size_t)(n * s->blocks * s->plane) * sizeof(cr_real);
}

/* Of the copy for apply, and what tiles read after it: z, or this. */
static size_t source_bytes(const struct cr_conv *c,
                           const struct cr_conv_nhwc_source *s)
{
    return copies(s, 1) + (c->in_tiles ? TILE_BYTES : 0);
}

static bool in_runs(const int64_t *tap, int64_t taps)
{
    int64_t k;

    for (k = 0; k < taps; k++)
        if (k % 3 > 0 && tap[k] != tap[k - 1] + CR_CONV_NHWC_BLOCK)
            return false;
    return taps > 0 && taps % 3 == 0;
}

/* ---- weights ---- */

/* One tap of one grid: w at (o, c) is from[o * o_step + c * c_step]; folded,
 * o is (kernel column, channel) and columns follow one another. */
struct pack {
    const struct cr_conv_nhwc_grid *grid;
    const cr_real *w;     /* of the convolution */
    bool pairs;           /* of c, rounded to bfloat16 */
    const int64_t *place; /* in the kernel, of every tap */
    int64_t groups, cout, cin;
    int64_t o_step, c_step, group_step;
    int64_t fold; /* channels, where columns are folded; else 0 */
    int lanes;
};

static int64_t output_at(const struct pack *p, int64_t o)
{
    return p->fold ? o % p->fold * p->o_step + o / p->fold : o * p->o_step;
}

/* Pair c of n outputs from o on, `some` of which are there. */
static void pack_pairs(const struct pack *p, const cr_real *w, int64_t c,
                       int64_t o, int64_t some, int64_t n, void *to)
{
    cr_real pair[64];
    int64_t i, v;

    memset(pair, 0, sizeof pair);
    for (i = 0; i < 2 && 2 * c + i < p->cin; i++)
        for (v = 0; v < some; v++)
            pair[2 * v + i] =
                w[(2 * c + i) * p->c_step + output_at(p, o + v)];
    cr_narrow(CR_BF16, 2 * n, pair, to);
}

static void pack_part(void *ctx, int task, int n_tasks)
{
    const struct pack *p = ctx;
    int64_t wide = 2 * p->lanes, sets = conv_up(p->cout, wide);
    int64_t cin = p->pairs ? conv_up(p->cin, 2) : p->cin;
    int64_t u, end = p->groups * sets * (task + 1) / n_tasks, b, k, c, v;
    int64_t i, run;

    for (u = p->groups * sets * task / n_tasks; u < end; u++) {
        int64_t group = u / sets, o = u % sets * wide;
        int64_t left = p->cout - o, n = left > p->lanes ? wide : p->lanes;
        int64_t some = conv_min(left, n);
        const cr_real *w = p->w + group * p->group_step;
        cr_real *to = (cr_real *)p->grid->w + group * p->grid->w_group +
                      o * cin * p->grid->taps;

        run = p->grid->runs && n == p->lanes ? 3 : 1;
        for (b = 0; b < cin; b += CR_CONV_NHWC_BLOCK)
            for (k = 0; k < p->grid->taps; k += run)
                for (c = b; c < conv_min(b + CR_CONV_NHWC_BLOCK, cin); c++)
                    for (i = k; i < k + run; i++, to += n) {
                        const cr_real *from = w + p->place[i] + c * p->c_step;

                        if (p->pairs) {
                            pack_pairs(p, w + p->place[i], c, o, some, n, to);
                            continue;
                        }
                        if (!p->fold)
                            from += o * p->o_step;
                        for (v = 0; v < some && !p->fold; v++)
                            to[v] = from[v * p->o_step];
                        for (; v < some; v++)
                            to[v] = from[output_at(p, o + v)];
                        for (; v < n; v++)
                            to[v] = 0;
                    }
    }
}

static void pack(struct pack *p)
{
    int64_t n = p->cout * p->cin * p->grid->taps * p->groups;

    cr_parallel_run(pack_part, p, n < 16384 ? 1 : cr_thread_count());
}

/* ---- running ---- */

CONV_PART(conv_nhwc, apply)
CONV_PART(conv_nhwc, sums)
CONV_PART(conv_nhwc, reduce)

#if defined(__x86_64__) && !defined(CR_DOUBLE)
#define PAIRS_PART(name, kernel)                            \
    static void name(void *ctx, int task, int n_tasks)      \
    {                                                       \
        cr_conv_nhwc_##kernel(ctx, task, n_tasks);          \
    }
#else
#define PAIRS_PART(name, kernel)                            \
    static void name(void *ctx, int task, int n_tasks)      \
    {                                                       \
        (void)ctx, (void)task, (void)n_tasks;               \
    }
#endif
PAIRS_PART(apply_pairs, apply_bf16)
PAIRS_PART(apply_tiles, apply_amx)
PAIRS_PART(sums_pairs, sums_bf16)

static void apply(const struct cr_conv *c, struct cr_conv_nhwc_apply *g)
{
    cr_parallel_run(c->in_tiles   ? apply_tiles
                    : c->in_pairs ? apply_pairs
                                  : apply_part,
                    g, conv_threads(c));
}

/* The grid of all outputs. Its taps and weights lie at `at`, where they are
 * packed already or, with w, are packed now. */
static struct cr_conv_nhwc_grid forward_grid(
    const struct cr_conv *c, const struct cr_conv_nhwc_source *s,
    const cr_real *w, char *at)
{
    int64_t cig = c->ci / c->group, cog = c->co / c->group, taps = conv_taps(c);
    int64_t *tap = conv_carve(&at, taps * (int64_t)sizeof *tap);
    int64_t *place = conv_carve(&at, taps * (int64_t)sizeof *place), i, j;
    struct cr_conv_nhwc_grid grid = { .rows = c->out[H],
                                      .cols = c->out[W],
                                      .y_row = c->out[W] * c->co,
                                      .y_col = c->co,
                                      .taps = (int)taps,
                                      .tap = tap,
                                      .w = conv_carve(&at, 0),
                                      .w_group =
                                          packed(cog, words(c, cig), taps) };
    struct pack p = { .grid = &grid,
                      .w = w,
                      .pairs = c->in_pairs,
                      .place = place,
                      .groups = c->group,
                      .cout = cog,
                      .cin = cig,
                      .o_step = cig * taps,
                      .c_step = taps,
                      .group_step = cog * cig * taps,
                      .lanes = conv_lanes() };

    for (i = 0; i < c->kernel[H] && w; i++)
        for (j = 0; j < c->kernel[W]; j++) {
            place[i * c->kernel[W] + j] = i * c->kernel[W] + j;
            tap[i * c->kernel[W] + j] = tap_of_x(c, s, i, j);
        }
    grid.runs = !c->in_tiles && in_runs(tap, taps);
    if (w)
        pack(&p);
    return grid;
}

static void pack_forward(const struct cr_conv *c, const cr_real *w,
                         cr_real *to)
{
    struct cr_conv_nhwc_source s = source_of_x(c, NULL, 0);

    forward_grid(c, &s, w, (char *)to);
}

/* What makes y of x, or dx of dy. */
static struct cr_conv_nhwc_apply apply_of(const struct cr_conv *c, bool dx,
                                          struct cr_conv_nhwc_source from,
                                          cr_real *to,
                                          const struct cr_epilogue *end)
{
    struct cr_conv_nhwc_apply g = {
        .s = from,
        .rows = dx ? c->in[H] : c->out[H],
        .cols = dx ? c->in[W] : c->out[W],
        .pixel = dx ? c->ci : c->co,
        .y = to,
        .end = conv_end(end, to)
    };

    g.cout = g.pixel / c->group;
    g.y_image = g.rows * g.cols * g.pixel;
    g.band = g.s.band * (dx ? c->stride[H] : 1);
    g.room = source_bytes(c, &g.s);
    return g;
}

static void forward(const struct cr_conv *c, const cr_real *x, const cr_real *w,
                    const cr_real *packed, const struct cr_epilogue *end,
                    cr_real *y, void *scratch)
{
    struct cr_conv_nhwc_grid grid;
    struct cr_conv_nhwc_apply g =
        apply_of(c, false, source_of_x(c, x, 0), y, end);

    g.grids = 1;
    g.grid = &grid;
    grid = packed ? forward_grid(c, &g.s, NULL, (char *)packed)
                  : forward_grid(c, &g.s, w, scratch);
    apply(c, &g);
}

/* ---- the gradient of the input ---- */

/* Taps i of one axis that outputs of remainder a see, from lo to hi rows away
 * in dy. */
static void reach(const struct cr_conv *c, int axis, int64_t *lo, int64_t *hi)
{
    int64_t s = c->stride[axis], a, i;

    *lo = INT64_MAX;
    *hi = INT64_MIN;
    for (a = 0; a < conv_min(s, c->in[axis]); a++)
        for (i = 0; i < c->kernel[axis]; i++) {
            int64_t d = a + c->pad_before[axis] - c->dilation[axis] * i;

            if (mod(d, s) == 0) {
                *lo = conv_min(*lo, floor_div(d, s));
                *hi = conv_max(*hi, floor_div(d, s));
            }
        }
    if (*lo > *hi)
        *lo = *hi = 0;
}

static struct cr_conv_nhwc_source source_of_dy(const struct cr_conv *c,
                                               const cr_real *dy)
{
    int64_t lo_row, hi_row, lo_col, hi_col;
    struct cr_conv_nhwc_source s = { .x = dy,
                                     .stored = c->dy_low ? c->low : CR_REAL,
                                     .n = c->n,
                                     .h = c->out[H],
                                     .w = c->out[W],
                                     .pixel = c->co,
                                     .groups = c->group,
                                     .channels = c->co / c->group,
                                     .words = words(c, c->co / c->group),
                                     .step_row = 1,
                                     .step_col = 1 };

    reach(c, H, &lo_row, &hi_row);
    reach(c, W, &lo_col, &hi_col);
    s.lo_row = lo_row;
    s.lo_col = folds(c) ? 0 : lo_col;
    size_copy(&s, conv_up(c->in[H], c->stride[H]), hi_row - lo_row,
              folds(c) ? c->out[W]
                       : conv_up(c->in[W], c->stride[W]) + hi_col - lo_col,
              0);
    return s;
}

/* The grid of remainders (a, b): its taps, appended at *taps. */
static struct cr_conv_nhwc_grid grid_of(const struct cr_conv *c,
                                        const struct cr_conv_nhwc_source *s,
                                        int64_t a, int64_t b, int64_t *tap,
                                        int64_t *place)
{
    int64_t sh = c->stride[H], sw = c->stride[W], i, j;
    struct cr_conv_nhwc_grid g = { .rows = conv_up(c->in[H] - a, sh),
                                   .cols = conv_up(c->in[W] - b, sw),
                                   .y_at = (a * c->in[W] + b) * c->ci,
                                   .y_row = sh * c->in[W] * c->ci,
                                   .y_col = sw * c->ci,
                                   .tap = tap };

    for (i = 0; i < c->kernel[H]; i++)
        for (j = c->kernel[W] - 1; j >= 0; j--) {
            int64_t row = a + c->pad_before[H] - c->dilation[H] * i;
            int64_t col = b + c->pad_before[W] - c->dilation[W] * j;

            if (mod(row, sh) != 0 || mod(col, sw) != 0)
                continue;
            tap[g.taps] = (floor_div(row, sh) - s->lo_row) * s->pitch +
                          (floor_div(col, sw) - s->lo_col) * CR_CONV_NHWC_BLOCK;
            place[g.taps++] = i * c->kernel[W] + j;
        }
    g.runs = !c->in_tiles && in_runs(tap, g.taps);
    return g;
}

/* The grid of remainder a where columns are folded: rows of z of one band. */
static struct cr_conv_nhwc_grid fold_grid_of(
    const struct cr_conv *c, const struct cr_conv_nhwc_source *s, int64_t a,
    int64_t *tap, int64_t *place)
{
    int64_t sh = c->stride[H], z_row = c->out[W] * fold_lanes(c), i;
    struct cr_conv_nhwc_grid g = { .rows = conv_up(c->in[H] - a, sh),
                                   .cols = c->out[W],
                                   .y_at = a * z_row,
                                   .y_row = sh * z_row,
                                   .y_col = fold_lanes(c),
                                   .tap = tap };

    for (i = 0; i < c->kernel[H]; i++) {
        int64_t row = a + c->pad_before[H] - c->dilation[H] * i;

        if (mod(row, sh) != 0)
            continue;
        tap[g.taps] = (floor_div(row, sh) - s->lo_row) * s->pitch;
        place[g.taps++] = i * c->kernel[W];
    }
    return g;
}

/* Which numbers of a row of z each column of dx sums. */
static struct cr_conv_nhwc_fold fold_of(const struct cr_conv *c,
                                        int64_t *first)
{
    int64_t *at = first + c->in[W] + 1, n = 0, x, j;
    struct cr_conv_nhwc_fold f = { .lanes = fold_lanes(c),
                                   .z_row = c->out[W] * fold_lanes(c),
                                   .first = first,
                                   .at = at };

    for (x = 0; x < c->in[W]; x++) {
        first[x] = n;
        for (j = 0; j < c->kernel[W]; j++) {
            int64_t from = x + c->pad_before[W] - c->dilation[W] * j;
            int64_t q = floor_div(from, c->stride[W]);

            if (mod(from, c->stride[W]) == 0 && q >= 0 && q < c->out[W])
                at[n++] = q * f.lanes + j * c->ci;
        }
    }
    first[x] = n;
    return f;
}

static size_t fold_bytes(const struct cr_conv *c,
                         const struct cr_conv_nhwc_source *s)
{
    return folds(c) ? (size_t)(s->band * c->stride[H] * c->out[W] *
                               fold_lanes(c)) * sizeof(cr_real)
                    : 0;
}

static void input_folded(const struct cr_conv *c, const cr_real *dy,
                         const cr_real *w, const struct cr_epilogue *end,
                         cr_real *dx, void *scratch)
{
    int64_t taps = conv_taps(c), a;
    char *at = scratch;
    int64_t *tap = conv_carve(&at, taps * (int64_t)sizeof *tap);
    int64_t *place = conv_carve(&at, taps * (int64_t)sizeof *place);
    int64_t *first =
        conv_carve(&at, fold_places(c) * (int64_t)sizeof *first);
    struct cr_conv_nhwc_grid *grid =
        conv_carve(&at, grids(c) * (int64_t)sizeof *grid);
    cr_real *packed_w = conv_carve(&at, 0);
    struct cr_conv_nhwc_apply g =
        apply_of(c, true, source_of_dy(c, dy), dx, end);
    struct cr_conv_nhwc_fold fold = fold_of(c, first);

    for (a = 0; a < conv_min(c->stride[H], c->in[H]); a++) {
        struct cr_conv_nhwc_grid *to = &grid[g.grids++];
        struct pack p = { .grid = to,
                          .w = w,
                          .pairs = c->in_pairs,
                          .place = place,
                          .groups = 1,
                          .cout = c->kernel[W] * c->ci,
                          .cin = c->co,
                          .o_step = taps,
                          .c_step = c->ci * taps,
                          .fold = c->ci,
                          .lanes = conv_lanes() };

        *to = fold_grid_of(c, &g.s, a, tap, place);
        to->w = packed_w;
        pack(&p);
        packed_w += packed(fold_lanes(c), words(c, c->co), to->taps);
        tap += to->taps;
        place += to->taps;
    }
    g.grid = grid;
    g.fold = &fold;
    g.cout = fold.lanes;
    g.room += fold_bytes(c, &g.s);
    apply(c, &g);
}

static void input(const struct cr_conv *c, const cr_real *dy, const cr_real *w,
                  const struct cr_epilogue *end, cr_real *dx,
                  void *scratch)
{
    int64_t cig = c->ci / c->group, cog = c->co / c->group, taps = conv_taps(c);
    char *at = scratch;
    int64_t *tap = conv_carve(&at, taps * (int64_t)sizeof *tap);
    int64_t *place = conv_carve(&at, taps * (int64_t)sizeof *place), a, b;
    struct cr_conv_nhwc_grid *grid =
        conv_carve(&at, grids(c) * (int64_t)sizeof *grid);
    cr_real *packed_w = conv_carve(&at, 0);
    struct cr_conv_nhwc_apply g =
        apply_of(c, true, source_of_dy(c, dy), dx, end);

    if (folds(c)) {
        input_folded(c, dy, w, end, dx, scratch);
        return;
    }
    g.grid = grid;
    for (a = 0; a < conv_min(c->stride[H], c->in[H]); a++)
        for (b = 0; b < conv_min(c->stride[W], c->in[W]); b++) {
            struct cr_conv_nhwc_grid *to = &grid[g.grids++];
            struct pack p = { .grid = to,
                              .w = w,
                              .pairs = c->in_pairs,
                              .place = place,
                              .groups = c->group,
                              .cout = cig,
                              .cin = cog,
                              .o_step = taps,
                              .c_step = cig * taps,
                              .group_step = cog * cig * taps,
                              .lanes = conv_lanes() };

            *to = grid_of(c, &g.s, a, b, tap, place);
            to->w = packed_w;
            to->w_group = packed(cig, words(c, cog), to->taps);
            pack(&p);
            packed_w += c->group * to->w_group;
            tap += to->taps;
            place += to->taps;
        }
    apply(c, &g);
}

/* ---- the gradient of the weight ---- */

/* Bytes of dy that go with a row of the copy. */
static int64_t dy_bytes(const struct cr_conv *c)
{
    return c->out[W] * conv_min(c->co / c->group, 2 * conv_lanes()) *
           (int64_t)sizeof(cr_real);
}

/* Parts of images that a thread sums over at once. */
static int64_t together(const struct cr_conv_nhwc_source *s, int64_t extra)
{
    int64_t passed = s->plane * (int64_t)sizeof(cr_real) + s->band * extra;

    return conv_max(1,
                    conv_min(CONV_SUM_BYTES / passed, CR_CONV_NHWC_TOGETHER));
}

static void weight(const struct cr_conv *c, const cr_real *x, const cr_real *dy,
                   cr_real alpha, bool add, cr_real *dw, void *scratch)
{
    int64_t cog = c->co / c->group, taps = conv_taps(c), i, j;
    bool pairs = c->in_pairs && !c->in_tiles;
    char *at = scratch;
    int64_t *tap = conv_carve(&at, taps * (int64_t)sizeof *tap);
    int64_t extra = dy_bytes(c);
    struct cr_conv_nhwc_sums g = { .s = source_of_x(c, x, extra),
                                   .dy = dy,
                                   .dy_stored = c->dy_low ? c->low : CR_REAL,
                                   .rows = c->out[H],
                                   .cols = c->out[W],
                                   .cout = cog,
                                   .dy_pixel = c->co,
                                   .taps = taps,
                                   .tap = tap,
                                   .chunks = chunks(c),
                                   .units = units(c),
                                   .unit = unit_numbers(c),
                                   .to = conv_carve(&at, 0),
                                   .alpha = alpha,
                                   .dw = dw,
                                   .add = add };

    for (i = 0; i < c->kernel[H]; i++)
        for (j = 0; j < c->kernel[W]; j++)
            tap[i * c->kernel[W] + j] = tap_of_x(c, &g.s, i, j);
    g.runs = !pairs && in_runs(tap, taps);
    g.together = together(&g.s, extra);
    g.room = copies(&g.s, g.together);
    cr_parallel_run(pairs ? sums_pairs : sums_part, &g, conv_threads(c));
    cr_parallel_run(reduce_part, &g,
                    g.units * g.unit < 16384 ? 1 : cr_thread_count());
}

static size_t thread_scratch(const struct cr_conv *c)
{
    struct cr_conv_nhwc_source x = source_of_x(c, NULL, 0);
    struct cr_conv_nhwc_source sums = source_of_x(c, NULL, dy_bytes(c));
    struct cr_conv_nhwc_source dy = source_of_dy(c, NULL);
    int64_t n = together(&sums, dy_bytes(c));
    size_t a = source_bytes(c, &x);
    size_t b = source_bytes(c, &dy) + fold_bytes(c, &dy);
    size_t d = copies(&sums, n);

    return a > b && a > d ? a : b > d ? b : d;
}

/* What the rows have in common. */
#define ROW                                                                  \
    .takes = CR_END_SCALE | CR_END_BIAS | CR_END_ADD | CR_END_ACT |          \
             CR_END_MAP | CR_END_KEEP | CR_END_MASK,                         \
    .low_x = true, .scratch = scratch_bytes,                                 \
    .thread_scratch = thread_scratch, .packed = packed_bytes,                \
    .pack = pack_forward, .forward = forward, .input = input, .weight = weight

const struct cr_conv_kernel cr_conv_nhwc = {
    .head = { .name = "conv_nhwc", .blas = "own", .accepts = accepts },
    ROW,
};

const struct cr_conv_kernel cr_conv_nhwc_amx = {
    .head = { .name = "conv_nhwc_amx",
              .isa = CR_ISA_AVX512,
              .blas = "own",
              .accepts = accepts_tiles },
    .in_pairs = true,
    .in_tiles = true,
    ROW,
};

const struct cr_conv_kernel cr_conv_nhwc_bf16 = {
    .head = { .name = "conv_nhwc_bf16",
              .isa = CR_ISA_AVX512,
              .blas = "own",
              .accepts = accepts_pairs },
    .low_dy = true,
    .in_pairs = true,
    ROW,
};

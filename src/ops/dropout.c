/* dropout: y = x mask / keep, mask 1 with probability keep, in training;
 * y = x in prediction.  dx = dy mask / keep.
 * The mask is a function of seed, cell, call, update and element, counted in
 * row-major order whatever the layout: backward makes it again. */
#include "base/compiler.h"
#include "families/low.h"
#include "kernels/parallel_for.h"
#include "kernels/transpose.h"

#define RUN 2048    /* elements per call of the generator */
#define PLACES 1024 /* of a tile, at most */
#define CHANNELS 128
#define MASK 32768

struct dropout {
    double keep;
};

static const struct cr_opt dropout_opts[] = {
    CR_REAL_DEFAULT(struct dropout, keep, 0.5, 0, 1,
                    "Probability that an element is kept."),
    { 0 },
};

static bool dropout_plan(struct cr_op_plan *p)
{
    p->out[0] = p->in[0];
    p->same = !p->training || ((const struct dropout *)p->attr)->keep == 1;
    return true;
}

static double dropout_drops(const void *attr)
{
    return ((const struct dropout *)attr)->keep;
}

CR_CLONES_WIDE
static void dropout_mask(int64_t n, const unsigned char *mask, cr_real scale,
                         const cr_real *x, bool add, cr_real *y)
{
    int64_t i;

    if (!mask) {
        CR_SIMD
        for (i = 0; i < n; i++)
            y[i] = add ? y[i] + x[i] : x[i];
    } else if (add) {
        CR_SIMD
        for (i = 0; i < n; i++)
            y[i] += mask[i] ? x[i] * scale : 0;
    } else {
        CR_SIMD
        for (i = 0; i < n; i++)
            y[i] = mask[i] ? x[i] * scale : 0;
    }
}

/* Of dropout after a ReLU, whose result y tells what was kept. */
CR_CLONES_WIDE
static void dropout_relu(int64_t n, cr_real scale, const cr_real *y,
                         const cr_real *dy, cr_real *d)
{
    int64_t i;

    CR_SIMD
    for (i = 0; i < n; i++)
        d[i] = y[i] <= 0 ? 0 : dy[i] * scale;
}

static void dropout_relu_grad(const void *attr, int64_t n, const cr_real *x,
                              const cr_real *y, const cr_real *dy, cr_real *d)
{
    double keep = ((const struct dropout *)attr)->keep;

    (void)x;
    dropout_relu(n, keep > 0 ? (cr_real)(1 / keep) : 0, y, dy, d);
}

/* Elements of the batch before these. */
static int64_t dropout_before(const struct cr_op_ctx *s)
{
    return s->rows_before > 0
               ? cr_count(&s->in[0]) / s->batch * s->rows_before
               : 0;
}

static bool dropout_draws(const struct cr_op_ctx *s)
{
    return s->training && ((const struct dropout *)s->attr)->keep != 1;
}

/* The masks of elements from `from` on; NULL: all are kept. */
static const unsigned char *dropout_draw(const struct cr_op_ctx *s,
                                         int64_t from, int64_t n,
                                         unsigned char *mask)
{
    double keep = ((const struct dropout *)s->attr)->keep;

    if (!dropout_draws(s))
        return NULL;
    cr_rng_bernoulli(&s->rng, (uint64_t)(dropout_before(s) + from), n, keep,
                     mask);
    return mask;
}

static cr_real dropout_scale(const struct cr_op_ctx *s)
{
    double keep = ((const struct dropout *)s->attr)->keep;

    return s->training && keep > 0 ? (cr_real)(1 / keep) : 1;
}

/* What becomes of n elements as they lie in memory, from `at` on. */
typedef void dropout_put(const struct cr_op_ctx *s, int64_t at, int64_t n,
                         const unsigned char *mask);

static void dropout_put_y(const struct cr_op_ctx *s, int64_t at, int64_t n,
                          const unsigned char *mask)
{
    cr_real x[RUN], room[RUN], *y = cr_low_y_open(s, at, room);

    dropout_mask(n, mask, dropout_scale(s), cr_low_x(s, 0, at, n, x), false, y);
    cr_low_y_close(s, at, n, y);
}

static void dropout_put_dx(const struct cr_op_ctx *s, int64_t at, int64_t n,
                           const unsigned char *mask)
{
    bool low = cr_low_any(s);
    cr_real room[RUN], dy[RUN];
    cr_real *dx =
        low ? cr_low_dx_open(s, 0, at, room) : cr_reals(s->dx[0]) + at;

    dropout_mask(n, mask, dropout_scale(s), cr_low_dy(s, at, n, dy),
                 s->accumulate[0] && !low, dx);
    if (low)
        cr_low_dx_close(s, 0, at, n, dx);
}

struct dropping {
    const struct cr_op_ctx *s;
    dropout_put *put;
    /* channels last: of a sample, and of a tile of it */
    int64_t channels, places, tile_channels, tile_places;
};

static void dropout_range(void *ctx, int64_t from, int64_t to)
{
    const struct dropping *d = ctx;
    unsigned char mask[RUN];
    int64_t n;

    for (; from < to; from += n) { /* ranges start at multiples of 16 */
        n = to - from < RUN ? to - from : RUN;
        d->put(d->s, from, n, dropout_draw(d->s, from, n, mask));
    }
}

/* ---- channels last ---- */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The tile's masks from element `at` on, of which each channel has all its
 * places or some. */
static const unsigned char *dropout_draw_tile(const struct dropping *d,
                                              int64_t at, int64_t channels,
                                              int64_t places,
                                              unsigned char *mask)
{
    int64_t i;

    if (places == d->places)
        return dropout_draw(d->s, at, channels * places, mask);
    for (i = 0; i < channels; i++)
        (void)dropout_draw(d->s, at + i * d->places, places, mask + i * places);
    return mask;
}

/* The elements at t->cols places, whose masks are the columns of t; `at`: the
 * first one in memory. */
static void dropout_put_places(const struct dropping *d, int64_t at,
                               const struct cr_transposed *t,
                               const unsigned char *mask)
{
    unsigned char turned[RUN];
    int64_t i;

    cr_transpose_kernel(t)(t, mask, turned);
    if (t->rows == d->channels)
        d->put(d->s, at, t->cols * t->rows, turned);
    else
        for (i = 0; i < t->cols; i++)
            d->put(d->s, at + i * d->channels, t->rows, turned + i * t->rows);
}

static void dropout_tile(const struct dropping *d, int64_t sample,
                         int64_t channel, int64_t place)
{
    unsigned char room[MASK];
    const unsigned char *mask;
    int64_t channels = least(d->channels - channel, d->tile_channels);
    int64_t places = least(d->places - place, d->tile_places);
    int64_t first = sample * d->channels * d->places, i;
    struct cr_transposed t = { .rows = channels,
                              .x_stride = places,
                              .y_stride = channels,
                              .size = 1 };

    mask = dropout_draw_tile(d, first + channel * d->places + place, channels,
                             places, room);
    for (i = 0; i < places; i += t.cols) {
        t.cols = least(places - i, RUN / channels);
        dropout_put_places(d, first + (place + i) * d->channels + channel, &t,
                           mask + i);
    }
}

static int64_t tiles_along(int64_t n, int64_t tile)
{
    return (n + tile - 1) / tile;
}

static void dropout_tiles(void *ctx, int64_t from, int64_t to)
{
    const struct dropping *d = ctx;
    int64_t across = tiles_along(d->channels, d->tile_channels);
    int64_t down = tiles_along(d->places, d->tile_places);

    for (; from < to; from++)
        dropout_tile(d, from / across / down, from % across * d->tile_channels,
                     from / across % down * d->tile_places);
}

static void dropout_run_last(struct dropping *d)
{
    const struct cr_spec *x = &d->s->in[0];

    d->channels = x->dim[1];
    d->places = cr_count(x) / x->dim[0] / x->dim[1];
    d->tile_places = least(d->places, PLACES);
    d->tile_channels =
        least(d->channels, least(CHANNELS, MASK / d->tile_places));
    cr_parallel_for_coarse(
        x->dim[0] * tiles_along(d->channels, d->tile_channels) *
            tiles_along(d->places, d->tile_places),
        (double)(d->tile_channels * d->tile_places), d, dropout_tiles);
}

static void dropout_run(const struct cr_op_ctx *s, dropout_put *put)
{
    struct dropping d = { .s = s, .put = put };

    if (s->in[0].layout == CR_CHANNELS_LAST && dropout_draws(s))
        dropout_run_last(&d);
    else
        cr_parallel_for(cr_count(&s->in[0]), 1, &d, dropout_range);
}

static void dropout_forward(const struct cr_op_ctx *s)
{
    dropout_run(s, dropout_put_y);
}

static void dropout_backward(const struct cr_op_ctx *s)
{
    dropout_run(s, dropout_put_dx);
}

static const struct cr_op_kernels dropout_kernels = { .last = cr_last_too };

const struct cr_op cr_op_dropout = {
    .about = { .name = "dropout",
               .summary = "Dropout: zeroes elements at random in training.",
               .opts = dropout_opts,
               .size = sizeof(struct dropout) },
    .rows = CR_ROWS_FIRST,
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .inputs = cr_input,
    .signature = "input, p=0.5, training=True",
    .text = "if p == 1:\n"
            "    return dropout(input, keep=1 - training)\n"
            "return cell('Dropout', input, p=p * training)",
    .algebra = { .drops = dropout_drops, .map_grad = dropout_relu_grad },
    .low = CR_X(0) | CR_Y(0),
    .kernels = &dropout_kernels,
    .plan = dropout_plan,
    .forward = dropout_forward,
    .bprop = "return again(dy)",
    .backward = dropout_backward,
};

/* What the depthwise kernels are given, in terms of a convolution. */
#include "kernels/conv_depthwise.h"

#include "kernels/conv_simd.h"

#include <string.h>

#define GROUP 4 /* vectors of channels of a unit of sums */

static bool accepts(const void *what)
{
    const struct cr_conv *c = what;

    return conv_lanes() > 0 && c->n > 0 && c->x == CR_CHANNELS_LAST &&
           c->y == CR_CHANNELS_LAST && conv_is_flat(c) && c->group > 1 &&
           c->ci == c->group && c->co == c->group;
}

/* Channels in whole vectors. */
static int64_t whole(const struct cr_conv *c)
{
    return conv_up(c->ci, conv_lanes()) * conv_lanes();
}

static struct cr_depthwise_axis axis(const struct cr_conv *c, int i, bool of_dy)
{
    struct cr_depthwise_axis a = { .taps = c->kernel[i],
                                   .multiply = c->stride[i],
                                   .add = -c->pad_before[i],
                                   .step = c->dilation[i],
                                   .divide = 1,
                                   .from = c->in[i],
                                   .to = c->out[i] };

    if (of_dy)
        a = (struct cr_depthwise_axis){ .taps = c->kernel[i],
                                        .multiply = 1,
                                        .add = c->pad_before[i],
                                        .step = -c->dilation[i],
                                        .divide = c->stride[i],
                                        .from = c->out[i],
                                        .to = c->in[i] };
    return a;
}

static struct cr_depthwise_source source(const struct cr_conv *c, const void *x,
                                         bool of_dy)
{
    const int64_t *in = of_dy ? c->out : c->in;
    bool low = of_dy ? c->dy_low : c->x_low;

    return (struct cr_depthwise_source){
        .x = x,
        .stored = low ? c->low : CR_REAL,
        .row = in[W] * c->ci,
        /* as many as a row of the result looks over */
        .kept = conv_min((c->kernel[H] - 1) * c->dilation[H] + 1, in[H]),
    };
}

/* Of a thread: the lines of a row, and what is kept of two sources. */
static size_t room(const struct cr_conv *c)
{
    struct cr_depthwise_source s[2] = { source(c, NULL, false),
                                        source(c, NULL, true) };
    int64_t bytes = 2 * c->kernel[H] * (int64_t)sizeof(int64_t) + 64;
    int i;

    for (i = 0; i < 2; i++)
        if (s[i].stored != CR_REAL)
            bytes += s[i].kept * ((int64_t)sizeof(int64_t) +
                                  s[i].row * (int64_t)sizeof(cr_real)) +
                     128;
    return (size_t)bytes;
}

/* ---- the taps of columns ---- */

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* Adds tap k, if the places of the class see it. */
static void see(const struct cr_depthwise_axis *a, int64_t k,
                struct cr_depthwise_tap *taps, struct cr_depthwise_class *class)
{
    int64_t at = a->multiply * class->first + a->add + a->step * k;

    if (at % a->divide)
        return;
    at = floor_div(at, a->divide);
    taps[class->n++] = (struct cr_depthwise_tap){ k, at };
    class->lo = conv_max(class->lo, -floor_div(at, a->multiply));
    class->hi =
        conv_min(class->hi, floor_div(a->from - 1 - at, a->multiply) + 1);
}

static size_t classes_bytes(const struct cr_conv *c)
{
    return (size_t)(c->stride[W] * (int64_t)sizeof(struct cr_depthwise_class) +
                    c->kernel[W] * (int64_t)sizeof(struct cr_depthwise_tap) +
                    128);
}

static const struct cr_depthwise_class *
classes(const struct cr_depthwise_axis *a, char *scratch)
{
    struct cr_depthwise_class *all =
        conv_carve(&scratch, a->divide * (int64_t)sizeof *all);
    struct cr_depthwise_tap *taps =
        conv_carve(&scratch, a->taps * (int64_t)sizeof *taps);
    int64_t i, k;

    for (i = 0; i < a->divide; i++) {
        struct cr_depthwise_class *class = &all[i];

        *class = (struct cr_depthwise_class){
            .taps = taps,
            .first = i,
            .places = conv_up(conv_max(a->to - i, 0), a->divide),
        };
        class->hi = class->places;
        for (k = 0; k < a->taps; k++)
            see(a, k, taps, class);
        taps += class->n;
        class->lo = conv_min(class->lo, class->places);
        class->hi = conv_max(class->hi, class->lo);
    }
    return all;
}

/* ---- running ---- */

CONV_PART(depthwise, apply)
CONV_PART(depthwise, sums)

static int64_t weights(const struct cr_conv *c)
{
    return conv_taps(c) * whole(c);
}

static size_t packed_bytes(const struct cr_conv *c)
{
    return (size_t)weights(c) * sizeof(cr_real) + 64;
}

static void pack(const struct cr_conv *c, const cr_real *w, cr_real *packed)
{
    int64_t taps = conv_taps(c), lanes = whole(c), i, k;
    char *at = (char *)packed;
    cr_real *to = conv_carve(&at, 0);

    memset(to, 0, (size_t)weights(c) * sizeof *to);
    for (i = 0; i < c->ci; i++)
        for (k = 0; k < taps; k++)
            to[k * lanes + i] = w[i * taps + k];
}

static void apply(const struct cr_conv *c, const void *x, bool of_dy,
                  const cr_real *packed, const struct cr_epilogue *end, void *y,
                  char *scratch)
{
    char *w = (char *)packed;
    struct cr_depthwise_apply a = { .x = source(c, x, of_dy),
                                    .rows = axis(c, H, of_dy),
                                    .cols = axis(c, W, of_dy),
                                    .n = c->n,
                                    .channels = c->ci,
                                    .w = conv_carve(&w, 0),
                                    .y = y,
                                    .end = *end,
                                    .y_stored = c->to_low ? c->low : CR_REAL,
                                    .mask_stored =
                                        c->mask_low ? c->low : CR_REAL,
                                    .room = room(c) };

    a.classes = classes(&a.cols, scratch);
    cr_parallel_run(apply_part, &a, conv_threads(c));
}

static void forward(const struct cr_conv *c, const cr_real *x, const cr_real *w,
                    const cr_real *packed, const struct cr_epilogue *end,
                    cr_real *y, void *scratch)
{
    cr_real *own = (cr_real *)((char *)scratch + classes_bytes(c));

    if (!packed)
        pack(c, w, own);
    apply(c, x, false, packed ? packed : own, end, y, scratch);
}

static void input(const struct cr_conv *c, const cr_real *dy, const cr_real *w,
                  const struct cr_epilogue *end, cr_real *dx, void *scratch)
{
    cr_real *packed = (cr_real *)((char *)scratch + classes_bytes(c));

    pack(c, w, packed);
    apply(c, dy, true, packed, end, dx, scratch);
}

/* ---- the gradient of the weight ---- */

/* Channels of a unit: all where rows must be widened for it. */
static int64_t group(const struct cr_conv *c)
{
    return c->x_low || c->dy_low ? whole(c) : GROUP * conv_lanes();
}

static int64_t chunks(const struct cr_conv *c)
{
    return conv_min(c->n, CONV_CHUNKS);
}

static void weight(const struct cr_conv *c, const cr_real *x, const cr_real *dy,
                   cr_real alpha, bool add, cr_real *dw, void *scratch)
{
    char *at = (char *)scratch + classes_bytes(c);
    struct cr_depthwise_sums s = { .x = source(c, x, false),
                                   .dy = source(c, dy, true),
                                   .rows = axis(c, H, false),
                                   .cols = axis(c, W, false),
                                   .n = c->n,
                                   .channels = c->ci,
                                   .chunks = chunks(c),
                                   .group = group(c),
                                   .to = conv_carve(&at, 0),
                                   .room = room(c) };
    int64_t taps = conv_taps(c), lanes = whole(c), i, j, k;

    s.classes = classes(&s.cols, scratch);
    cr_parallel_run(sums_part, &s, conv_threads(c));
    for (i = 0; i < c->ci; i++)
        for (k = 0; k < taps; k++) {
            cr_real sum = 0, *to = &dw[i * taps + k];

            for (j = 0; j < s.chunks; j++)
                sum += s.to[(j * taps + k) * lanes + i];
            *to = alpha * sum + (add ? *to : 0);
        }
}

static size_t scratch_bytes(const struct cr_conv *c)
{
    return classes_bytes(c) +
           (size_t)(chunks(c) * weights(c)) * sizeof(cr_real) + 64;
}

const struct cr_conv_kernel cr_conv_depthwise = {
    .head = { .name = "conv_depthwise", .blas = "own", .accepts = accepts },
    .takes = CR_END_SCALE | CR_END_BIAS | CR_END_ADD | CR_END_ACT | CR_END_MASK,
    .low_x = true,
    .low_dy = true,
    .low_to = true,
    .scratch = scratch_bytes,
    .thread_scratch = room,
    .packed = packed_bytes,
    .pack = pack,
    .forward = forward,
    .input = input,
    .weight = weight,
};

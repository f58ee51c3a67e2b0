/*
 * Convolutions over depth, height and width of channels-last tensors, as flat
 * ones: a plane of the result is a convolution of as many planes of the source
 * as the kernel is deep, whose channels are laid one after another:
 *
 *   y[n][q] = flat convolution of u[n][q] with v
 *   u[n][q] (in, g, kd, ci / g)   x[n][stride q + dilation kd - before], or 0
 *   v (co, kd, ci / g, kh, kw)    w (co, ci / g, kd, kh, kw)
 *
 * The gradient of the input is that of the flat convolution whose gradient u is
 * made of dy in the same way, and whose weight is (kd, co, ci / g, kh, kw). So
 * there is a kernel for depth wherever there is one for planes, and it takes
 * the same epilogues.
 *
 * u is made for some planes at a time, as many as the shapes say, so the bytes
 * do not depend on the number of threads.
 */
#include "kernels/conv.h"

#include "kernels/conv_simd.h"
#include "kernels/parallel_for.h"

#include <string.h>

#define CHUNK_BYTES (1 << 20) /* of u */
#define PARTS \
    (CR_END_SCALE | CR_END_BIAS | CR_END_ADD | CR_END_ACT | CR_END_MASK)

enum {
    D
}; /* the third axis of struct cr_conv, besides H and W */

/* Which planes of the source a plane of the result sees: those of place
 * (multiply q + add + step k) / divide, without remainder. */
struct planes {
    const char *x;
    char *to;
    int64_t size;           /* of a number */
    int64_t from, q, first; /* planes of the source and the result of an
                               image; the first one of `to` */
    int64_t taps, multiply, add, step, divide;
    int64_t pixels, groups, channels; /* of a plane; channels of a group */
};

/* The flat convolution of n planes; of_dy: the one whose dy is laid out. */
static struct cr_conv flat(const struct cr_conv *c, int64_t n, bool of_dy)
{
    struct cr_conv f = *c;

    f.n = n;
    if (of_dy)
        f.co *= c->kernel[D];
    else
        f.ci *= c->kernel[D];
    f.in[D] = f.out[D] = f.kernel[D] = f.stride[D] = f.dilation[D] = 1;
    f.pad_before[D] = 0;
    f.in_pairs = f.in_tiles = false;
    return f;
}

/* Whether a kernel for planes takes it, and all that this one does. */
static bool is_taken(const struct cr_conv *f)
{
    return cr_conv_low_x(f) && !(PARTS & ~cr_conv_takes(f));
}

static bool accepts(const void *what)
{
    const struct cr_conv *c = what;
    struct cr_conv of_x, of_dy;

    if (conv_lanes() == 0 || c->n == 0 || c->x != CR_CHANNELS_LAST ||
        c->y != CR_CHANNELS_LAST || conv_is_flat(c))
        return false;
    of_x = flat(c, 1, false);
    of_dy = flat(c, 1, true);
    return is_taken(&of_x) && is_taken(&of_dy);
}

/* ---- sizes ---- */

static int64_t pixels_of(const int64_t dim[3])
{
    return dim[H] * dim[W];
}

/* Numbers of a plane of u. */
static int64_t u_plane(const struct cr_conv *c, bool of_dy)
{
    return c->kernel[D] *
           (of_dy ? c->co * pixels_of(c->out) : c->ci * pixels_of(c->in));
}

/* Planes of the result. */
static int64_t planes_of(const struct cr_conv *c, bool of_dy)
{
    return c->n * (of_dy ? c->in[D] : c->out[D]);
}

/* And how many of them u is made for at once. */
static int64_t chunk_of(const struct cr_conv *c, bool of_dy)
{
    int64_t bytes = u_plane(c, of_dy) * (int64_t)sizeof(cr_real);

    return conv_min(conv_max(CHUNK_BYTES / bytes, 1), planes_of(c, of_dy));
}

static int64_t weights(const struct cr_conv *c)
{
    return c->co * (c->ci / c->group) * c->kernel[D] * conv_taps(c);
}

/* The most of what `of` says of the flat convolutions that there are. */
static size_t most(const struct cr_conv *c,
                   size_t (*of)(const struct cr_conv *f))
{
    size_t bytes = 0, n;
    int i;

    for (i = 0; i < 4; i++) {
        bool of_dy = i % 2, rest = i / 2;
        int64_t chunk = chunk_of(c, of_dy);
        struct cr_conv f =
            flat(c, rest ? planes_of(c, of_dy) % chunk : chunk, of_dy);

        n = f.n > 0 ? of(&f) : 0;
        bytes = n > bytes ? n : bytes;
    }
    return bytes;
}

static size_t scratch_bytes(const struct cr_conv *c)
{
    int64_t x = chunk_of(c, false) * u_plane(c, false);
    int64_t dy = chunk_of(c, true) * u_plane(c, true);

    return (size_t)(weights(c) + conv_max(x, dy)) * sizeof(cr_real) +
           most(c, cr_conv_scratch) + 3 * 64;
}

static size_t thread_scratch(const struct cr_conv *c)
{
    return most(c, cr_conv_thread_scratch);
}

/* ---- u ---- */

static struct planes planes(const struct cr_conv *c, const void *x, bool of_dy)
{
    bool low = of_dy ? c->dy_low : c->x_low;

    return (struct planes){
        .x = x,
        .size = low ? sizeof(uint16_t) : sizeof(cr_real),
        .from = of_dy ? c->out[D] : c->in[D],
        .q = of_dy ? c->in[D] : c->out[D],
        .taps = c->kernel[D],
        .multiply = of_dy ? 1 : c->stride[D],
        .add = of_dy ? c->pad_before[D] : -c->pad_before[D],
        .step = of_dy ? -c->dilation[D] : c->dilation[D],
        .divide = of_dy ? c->stride[D] : 1,
        .pixels = pixels_of(of_dy ? c->out : c->in),
        .groups = c->group,
        .channels = (of_dy ? c->co : c->ci) / c->group,
    };
}

/* n runs of some numbers, of the size of T, `step` numbers apart. */
#define RUNS(T, name)                                              \
    static void name(int64_t n, int64_t run, const T *from, T *to, \
                     int64_t step)                                 \
    {                                                              \
        int64_t i, k;                                              \
                                                                   \
        for (i = 0; i < n; i++, from += run, to += step)           \
            if (run >= 16)                                         \
                memcpy(to, from, (size_t)run * sizeof *to);        \
            else                                                   \
                for (k = 0; k < run; k++)                          \
                    to[k] = from[k];                               \
    }
RUNS(cr_real, runs)
RUNS(uint16_t, low_runs)

/* A plane of the source as tap k of plane `to`; NULL: zeros. */
static void lay(const struct planes *p, const char *from, int64_t k, char *to)
{
    int64_t run = p->channels, n = p->pixels * p->groups, i;

    to += k * run * p->size;
    if (!from)
        for (i = 0; i < n; i++, to += p->taps * run * p->size)
            memset(to, 0, (size_t)(run * p->size));
    else if (p->size == sizeof(cr_real))
        runs(n, run, (const cr_real *)(const void *)from, (void *)to,
             p->taps * run);
    else
        low_runs(n, run, (const uint16_t *)(const void *)from, (void *)to,
                 p->taps * run);
}

/* Taps of planes. */
static void lay_planes(void *ctx, int64_t begin, int64_t end)
{
    const struct planes *p = ctx;
    int64_t plane = p->pixels * p->groups * p->channels * p->size, i;

    for (i = begin; i < end; i++) {
        int64_t u = p->first + i / p->taps, k = i % p->taps;
        int64_t at = p->multiply * (u % p->q) + p->add + p->step * k;
        bool there = at >= 0 && at % p->divide == 0 && at / p->divide < p->from;
        int64_t row = u / p->q * p->from + at / p->divide;

        lay(p, there ? p->x + row * plane : NULL, k,
            p->to + i / p->taps * p->taps * plane);
    }
}

static void lay_chunk(struct planes *p, int64_t first, int64_t n)
{
    p->first = first;
    cr_parallel_for(n * p->taps, (double)(p->pixels * p->groups) * 4, p,
                    lay_planes);
}

/* w as a flat convolution has it; back: the other way, alpha w + (add ? to :
 * 0). */
static void turn(const struct cr_conv *c, bool of_dy, bool back,
                 const cr_real *w, cr_real alpha, bool add, cr_real *to)
{
    int64_t taps = conv_taps(c), depth = c->kernel[D], ci = c->ci / c->group;
    int64_t co = c->co / c->group, o, i, k, t;

    for (o = 0; o < c->co; o++)
        for (i = 0; i < ci; i++)
            for (k = 0; k < depth; k++) {
                int64_t plain = ((o * ci + i) * depth + k) * taps;
                int64_t row =
                    of_dy ? (o / co * depth + k) * co + o % co : o * depth + k;
                int64_t turned = (row * ci + i) * taps;

                for (t = 0; t < taps && !back; t++)
                    to[turned + t] = w[plain + t];
                for (t = 0; t < taps && back; t++)
                    to[plain + t] =
                        alpha * w[turned + t] + (add ? to[plain + t] : 0);
            }
}

/* ---- the three ---- */

/* The epilogue from number `at` of the result on. */
static struct cr_epilogue end_at(const struct cr_epilogue *end, int64_t at)
{
    struct cr_epilogue e = *end;

    if (e.add)
        e.add += at;
    if (e.mask)
        e.mask += at;
    return e;
}

/* y from x, or dx from dy; v as the flat convolution has it. */
static void apply(const struct cr_conv *c, const void *x, bool of_dy,
                  const cr_real *v, const cr_real *packed,
                  const struct cr_epilogue *end, cr_real *y, char *at)
{
    int64_t chunk = chunk_of(c, of_dy), all = planes_of(c, of_dy), first;
    int64_t plane =
        of_dy ? c->ci * pixels_of(c->in) : c->co * pixels_of(c->out);
    struct planes p = planes(c, x, of_dy);

    p.to =
        conv_carve(&at, chunk * u_plane(c, of_dy) * (int64_t)sizeof(cr_real));
    for (first = 0; first < all; first += chunk) {
        int64_t n = conv_min(chunk, all - first);
        struct cr_conv f = flat(c, n, of_dy);
        struct cr_epilogue e = end_at(end, first * plane);
        cr_real *to = y + first * plane;

        lay_chunk(&p, first, n);
        if (of_dy)
            cr_conv_input(&f, (void *)p.to, v, &e, to, at);
        else
            cr_conv_forward(&f, (void *)p.to, v, packed, &e, to, at);
    }
}

/* v, followed by it as the flat convolution reads it. */
static size_t packed_bytes(const struct cr_conv *c)
{
    struct cr_conv f = flat(c, chunk_of(c, false), false);

    return (size_t)weights(c) * sizeof(cr_real) + cr_conv_packed(&f) + 2 * 64;
}

static void pack(const struct cr_conv *c, const cr_real *w, cr_real *packed)
{
    struct cr_conv f = flat(c, chunk_of(c, false), false);
    char *at = (char *)packed;
    cr_real *v = conv_carve(&at, weights(c) * (int64_t)sizeof *v);

    turn(c, false, false, w, 1, false, v);
    if (cr_conv_packed(&f) > 0)
        cr_conv_pack(&f, v, conv_carve(&at, 0));
}

static void forward(const struct cr_conv *c, const cr_real *x, const cr_real *w,
                    const cr_real *packed, const struct cr_epilogue *end,
                    cr_real *y, void *scratch)
{
    struct cr_conv f = flat(c, chunk_of(c, false), false);
    char *at = packed ? (char *)packed : scratch;
    cr_real *v = conv_carve(&at, weights(c) * (int64_t)sizeof *v);

    if (packed) {
        packed = cr_conv_packed(&f) > 0 ? conv_carve(&at, 0) : NULL;
        at = scratch;
    } else {
        turn(c, false, false, w, 1, false, v);
    }
    apply(c, x, false, v, packed, end, y, at);
}

static void input(const struct cr_conv *c, const cr_real *dy, const cr_real *w,
                  const struct cr_epilogue *end, cr_real *dx, void *scratch)
{
    char *at = scratch;
    cr_real *v = conv_carve(&at, weights(c) * (int64_t)sizeof *v);

    turn(c, true, false, w, 1, false, v);
    apply(c, dy, true, v, NULL, end, dx, at);
}

static void weight(const struct cr_conv *c, const cr_real *x, const cr_real *dy,
                   cr_real alpha, bool add, cr_real *dw, void *scratch)
{
    int64_t chunk = chunk_of(c, false), all = planes_of(c, false), first;
    int64_t plane = c->co * pixels_of(c->out);
    struct planes p = planes(c, x, false);
    char *at = scratch;
    cr_real *dv = conv_carve(&at, weights(c) * (int64_t)sizeof *dv);

    p.to =
        conv_carve(&at, chunk * u_plane(c, false) * (int64_t)sizeof(cr_real));
    for (first = 0; first < all; first += chunk) {
        int64_t n = conv_min(chunk, all - first);
        struct cr_conv f = flat(c, n, false);

        lay_chunk(&p, first, n);
        cr_conv_weight(&f, (void *)p.to, dy + first * plane, 1, first > 0, dv,
                       at);
    }
    turn(c, false, true, dv, alpha, add, dw);
}

const struct cr_conv_kernel cr_conv_depth = {
    .head = { .name = "conv_depth", .blas = "own", .accepts = accepts },
    .takes = PARTS,
    .low_x = true,
    .scratch = scratch_bytes,
    .thread_scratch = thread_scratch,
    .packed = packed_bytes,
    .pack = pack,
    .forward = forward,
    .input = input,
    .weight = weight,
};

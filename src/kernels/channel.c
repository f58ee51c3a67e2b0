#include "kernels/channel.h"

#include <string.h>

#include "base/compiler.h"
#include "base/thread_pool.h"
#include "kernels/parallel_for.h"
#include "num/low_precision.h"

#define RUN CR_CHANNEL_RUN
#define PERIOD 256 /* parameters are repeated to at least so many */
#define PARAMS 7   /* of a sweep; from MASK on those of its mask */
#define MASK 4

static const struct cr_kernel *const rows[] = {
#ifndef CR_DOUBLE
    &cr_channel_onednn.head,
#endif
#ifdef __x86_64__
    &cr_channel_avx512.head, &cr_channel_avx2.head,
#endif
    &cr_channel_portable.head, NULL
};

const struct cr_kernels cr_kernels_channel = { rows };

static const struct cr_channel_kernel *
kernel_of(const struct cr_channel_norm *n)
{
    return (const struct cr_channel_kernel *)(const void *)cr_kernel_choose(
        &cr_kernels_channel, n);
}

static const struct cr_channel_kernel *kernel(void)
{
    return kernel_of(NULL);
}

const char *cr_channel_kernel_name(const struct cr_channel_norm *norm)
{
    return kernel_of(norm)->head.name;
}

bool cr_channel_norm_is_whole(const struct cr_channel_norm *norm)
{
    return kernel_of(norm)->norm;
}

size_t cr_channel_norm_thread_scratch(const struct cr_channel_norm *norm)
{
    const struct cr_channel_kernel *k = kernel_of(norm);

    return k->norm ? k->thread_scratch(norm) : 0;
}

void cr_channel_norm(const struct cr_channel_norm *norm)
{
    kernel_of(norm)->norm(norm);
}

void cr_channel_norm_backward(const struct cr_channel_norm *norm)
{
    kernel_of(norm)->norm_backward(norm);
}

struct cr_channels cr_channels(const struct cr_spec *spec)
{
    struct cr_channels ch = { .n = spec->dim[0],
                              .c = spec->dim[1],
                              .s = 1,
                              .last = spec->layout == CR_CHANNELS_LAST };
    int i;

    for (i = 2; i < spec->rank; i++)
        ch.s *= spec->dim[i];
    if (ch.c == 1)
        ch.last = false;
    else if (ch.s == 1)
        ch.last = true; /* the same memory: the one with longer loops */
    return ch;
}

/* ---- sums ---- */

/* A block is `per` rows of c elements with channels last, else one channel of
 * `per` samples. Its two results per channel go to part. */
struct blocks {
    const struct cr_channel_kernel *k;
    const struct cr_channels *ch;
    int64_t per, groups, rows; /* rows or samples: in a block, blocks, all */
    const cr_real *x, *mean, *dy;
    const struct cr_channel_mask *mask;
    const cr_real *param[3]; /* of a mask with a gradient, as a sweep's */
    cr_real *part;           /* (groups, 2, c) */
};

static struct blocks blocks_of(const struct cr_channels *ch)
{
    struct blocks b = { .k = kernel(), .ch = ch };

    if (ch->last) {
        b.rows = ch->n * ch->s;
        b.per = 4096 / ch->c;
        b.per = b.per < 16 ? 16 : b.per > 256 ? 256 : b.per;
    } else {
        b.rows = ch->n;
        b.per = ch->s < RUN ? RUN / ch->s : 1;
    }
    b.groups = (b.rows + b.per - 1) / b.per;
    return b;
}

/* ---- low precision ---- */

/* n numbers from number `at` on, as float32: where they lie, or in room. */
static const cr_real *piece(const struct cr_channels *ch, bool two_bytes,
                            const cr_real *x, int64_t at, int64_t n,
                            cr_real *room)
{
    if (!x || !two_bytes)
        return x ? x + at : NULL;
    cr_widen(ch->low->type, n, (const uint16_t *)(const void *)x + at, room);
    return room;
}

/* What is written there from v: v itself, unless it takes two bytes. */
static void piece_put(const struct cr_channels *ch, bool two_bytes, bool rounds,
                      cr_real *to, int64_t at, int64_t n, cr_real *v)
{
    if (two_bytes)
        cr_narrow(ch->low->type, n, v, (uint16_t *)(void *)to + at);
    else if (rounds)
        cr_round_to_type(ch->low->type, n, v, v);
}

/* A block of x, dy or y, as float32 in room: rows, or samples of channel c. */
static const cr_real *block_low(const struct blocks *b, bool two_bytes,
                                const cr_real *x, int64_t group, int64_t c,
                                int64_t n, cr_real *room)
{
    const struct cr_channels *ch = b->ch;
    int64_t i, s = ch->s;

    if (!x)
        return NULL;
    if (ch->last)
        return piece(ch, two_bytes, x, group * b->per * ch->c, n * ch->c, room);
    for (i = 0; i < n; i++) {
        int64_t at = ((group * b->per + i) * ch->c + c) * s;
        const cr_real *one = piece(ch, two_bytes, x, at, s, room + i * s);

        if (one != room + i * s)
            memcpy(room + i * s, one, (size_t)s * sizeof *room);
    }
    return room;
}

static int64_t block_elements(const struct blocks *b)
{
    return b->per * (b->ch->last ? b->ch->c : b->ch->s);
}

size_t cr_channel_low_scratch(const struct cr_channels *ch)
{
    struct blocks b = blocks_of(ch);

    return 3 * (size_t)block_elements(&b) * sizeof(cr_real);
}

static cr_real *low_room(const struct cr_channels *ch)
{
    char *own = cr_thread_scratch(ch->taken + cr_channel_low_scratch(ch));

    return (cr_real *)(void *)(own + ch->taken);
}

static int64_t period(const struct cr_channels *ch)
{
    return (PERIOD + ch->c - 1) / ch->c * ch->c;
}

/* Parameters of c values each, repeated to a period, in room. */
static void repeat(const struct cr_channels *ch, int n, const cr_real **param,
                   cr_real *room)
{
    int64_t p = period(ch), i;
    int k;

    for (k = 0; k < n && p > ch->c; k++)
        if (param[k]) {
            for (i = 0; i < p; i += ch->c)
                memcpy(room + k * p + i, param[k],
                       (size_t)ch->c * sizeof *room);
            param[k] = room + k * p;
        }
}

int64_t cr_channel_thread_scratch(const struct cr_channels *ch)
{
    int64_t sums = blocks_of(ch).groups * 2 * ch->c + 3 * period(ch);
    int64_t maps = PARAMS * period(ch);

    return sums > maps ? sums : maps;
}

static int64_t block_size(const struct blocks *b, int64_t group)
{
    int64_t left = b->rows - group * b->per;

    return left < b->per ? left : b->per;
}

static void moments_low(const struct blocks *b, int64_t group, int64_t c,
                        int64_t n, cr_real *part)
{
    const struct cr_channels *ch = b->ch;
    const cr_real *x =
        block_low(b, ch->low->x, b->x, group, c, n, low_room(ch));

    if (ch->last)
        b->k->moments_last(n, ch->c, x, part);
    else
        b->k->moments_plain(n, ch->c, ch->s, ch->s, x, part);
}

static void moments_range(void *ctx, int64_t from, int64_t to)
{
    const struct blocks *b = ctx;
    const struct cr_channels *ch = b->ch;
    int64_t i;

    for (i = from; i < to; i++) {
        int64_t group = ch->last ? i : i / ch->c, c = ch->last ? 0 : i % ch->c;
        int64_t n = block_size(b, group);
        cr_real *part = b->part + group * 2 * ch->c + c;

        if (ch->low)
            moments_low(b, group, c, n, part);
        else if (ch->last)
            b->k->moments_last(n, ch->c, b->x + group * b->per * ch->c, part);
        else
            b->k->moments_plain(n, ch->c, ch->s, ch->c * ch->s,
                                b->x + (group * b->per * ch->c + c) * ch->s,
                                part);
    }
}

static void blocks_run(struct blocks *b, double cost,
                       void (*fn)(void *ctx, int64_t from, int64_t to))
{
    const struct cr_channels *ch = b->ch;
    int64_t tasks = ch->last ? b->groups : b->groups * ch->c;
    double each = (double)(ch->n * ch->c * ch->s) / (double)tasks;

    cr_parallel_for_coarse(tasks, cost * each, b, fn);
}

/* Blocks of means and squares around them, into those of the whole: Chan,
 * Golub and LeVeque, "Updating formulae and a pairwise algorithm for
 * computing sample variances", 1979. */
void cr_channel_moments(const struct cr_channels *ch, const cr_real *x,
                        cr_real *room, double *mean, double *variance)
{
    struct blocks b = blocks_of(ch);
    double all = (double)(ch->n * ch->s);
    int64_t g, c;

    b.x = x;
    b.part = room;
    blocks_run(&b, 0.5, moments_range);
    for (c = 0; c < ch->c; c++)
        mean[c] = variance[c] = 0;
    for (g = 0; g < b.groups; g++) {
        double n = (double)(block_size(&b, g) * (ch->last ? 1 : ch->s));

        for (c = 0; c < ch->c; c++)
            mean[c] += n / all * (double)room[2 * g * ch->c + c];
    }
    for (g = 0; g < b.groups; g++) {
        double n = (double)(block_size(&b, g) * (ch->last ? 1 : ch->s));
        const cr_real *part = room + 2 * g * ch->c;

        for (c = 0; c < ch->c; c++) {
            double off = (double)part[c] - mean[c];

            variance[c] += ((double)part[ch->c + c] + n * off * off) / all;
        }
    }
}

/* The mask of a block: y is where it has been widened, or from number `at` on;
 * otherwise of channel c and those after it. */
static struct cr_channel_mask mask_of(const struct blocks *b, const cr_real *y,
                                      int64_t c)
{
    const struct cr_channel_mask *m = b->mask;

    return (struct cr_channel_mask){ .y = m->y ? y : NULL,
                                     .scale = m->scale ? m->scale + c : NULL,
                                     .shift = m->shift ? m->shift + c : NULL };
}

static void sums_low(const struct blocks *b, int64_t group, int64_t c,
                     int64_t n, cr_real *part)
{
    const struct cr_channels *ch = b->ch;
    int64_t size = block_elements(b);
    cr_real *room = low_room(ch);
    const cr_real *x = block_low(b, ch->low->x, b->x, group, c, n, room);
    const cr_real *dy =
        block_low(b, ch->low->dy, b->dy, group, c, n, room + size);
    const cr_real *y =
        block_low(b, ch->low->y, b->mask->y, group, c, n, room + 2 * size);
    struct cr_channel_mask mask = mask_of(b, y, c);

    if (ch->last)
        b->k->sums_last(n, ch->c, x, b->mean, dy, &mask, part);
    else
        b->k->sums_plain(n, ch->c, ch->s, ch->s, x, b->mean[c], dy, &mask,
                         part);
}

/* n numbers from number `at` on, of channel c where channels are not last: what
 * a gradient makes of dy, in d. v: room for the numbers that it reads. */
static void grad_piece(const struct cr_channel_kernel *k, bool last,
                       const struct cr_channel_mask *m, int64_t n,
                       const cr_real *x, const cr_real *dy,
                       const cr_real *const *param, int64_t c, cr_real *v,
                       cr_real *d)
{
    if (last)
        k->map_many(n, x, NULL, param, false, v);
    else
        k->map_one(n, x, NULL, param, c, false, v);
    if (m->map)
        m->map(m->attr, n, v, v);
    m->grad(m->attr, n, v, v, dy, d);
}

/* A block of rows, of which d is made first. */
static void sums_grad_last(const struct blocks *b, int64_t group, int64_t n,
                           cr_real *part)
{
    static const struct cr_channel_mask all = { .y = NULL };
    static const struct cr_channel_low none = { .x = false };
    const struct cr_channels *ch = b->ch;
    const struct cr_channel_low *low = ch->low ? ch->low : &none;
    int64_t size = block_elements(b), p = period(ch), i, k;
    cr_real *room = low_room(ch);
    const cr_real *x = block_low(b, low->x, b->x, group, 0, n, room);
    const cr_real *dy = block_low(b, low->dy, b->dy, group, 0, n, room + size);
    cr_real *d = b->mask->d ? b->mask->d + group * b->per * ch->c : room + size;

    for (i = 0; i < n * ch->c; i += p) {
        k = n * ch->c - i < p ? n * ch->c - i : p;
        grad_piece(b->k, true, b->mask, k, x + i, dy + i, b->param, 0,
                   room + 2 * size, d + i);
    }
    b->k->sums_last(n, ch->c, x, b->mean, d, &all, part);
}

/* The same of samples of a channel. */
static void sums_grad_plain(const struct blocks *b, int64_t group, int64_t c,
                            int64_t n, cr_real *part)
{
    static const struct cr_channel_mask all = { .y = NULL };
    static const struct cr_channel_low none = { .x = false };
    const struct cr_channels *ch = b->ch;
    const struct cr_channel_low *low = ch->low ? ch->low : &none;
    cr_real *room = low_room(ch);
    double sum = 0, dot = 0;
    int64_t i;

    for (i = 0; i < n; i++) {
        int64_t at = ((group * b->per + i) * ch->c + c) * ch->s;
        const cr_real *x = piece(ch, low->x, b->x, at, ch->s, room);
        const cr_real *dy = piece(ch, low->dy, b->dy, at, ch->s, room + ch->s);
        cr_real *d = b->mask->d ? b->mask->d + at : room + ch->s;

        grad_piece(b->k, false, b->mask, ch->s, x, dy, b->param, c,
                   room + 2 * ch->s, d);
        b->k->sums_plain(1, ch->c, ch->s, ch->s, x, b->mean[c], d, &all, part);
        sum += (double)part[0];
        dot += (double)part[ch->c];
    }
    part[0] = (cr_real)sum;
    part[ch->c] = (cr_real)dot;
}

static void sums_range(void *ctx, int64_t from, int64_t to)
{
    const struct blocks *b = ctx;
    const struct cr_channels *ch = b->ch;
    int64_t i;

    for (i = from; i < to; i++) {
        int64_t group = ch->last ? i : i / ch->c, c = ch->last ? 0 : i % ch->c;
        int64_t n = block_size(b, group);
        int64_t at = group * b->per * ch->c * (ch->last ? 1 : ch->s);
        cr_real *part = b->part + group * 2 * ch->c + c;
        struct cr_channel_mask mask;

        at += c * ch->s;
        mask = mask_of(b, b->mask->y ? b->mask->y + at : NULL, c);
        if (b->mask->grad && ch->last)
            sums_grad_last(b, group, n, part);
        else if (b->mask->grad)
            sums_grad_plain(b, group, c, n, part);
        else if (ch->low)
            sums_low(b, group, c, n, part);
        else if (ch->last)
            b->k->sums_last(n, ch->c, b->x + at, b->mean, b->dy + at, &mask,
                            part);
        else
            b->k->sums_plain(n, ch->c, ch->s, ch->c * ch->s, b->x + at,
                             b->mean[c], b->dy + at, &mask, part);
    }
}

void cr_channel_sums(const struct cr_channels *ch, const cr_real *x,
                     const cr_real *mean, const cr_real *dy,
                     const struct cr_channel_mask *mask, cr_real *room,
                     double *sum, double *dot)
{
    struct blocks b = blocks_of(ch);
    int64_t g, c;

    b.x = x;
    b.mean = mean;
    b.dy = dy;
    b.mask = mask;
    b.part = room;
    if (mask->grad) {
        b.param[0] = mean;
        b.param[1] = mask->scale;
        b.param[2] = mask->shift;
        if (ch->last)
            repeat(ch, 3, b.param, room + b.groups * 2 * ch->c);
    }
    blocks_run(&b, 0.5, sums_range);
    for (c = 0; c < ch->c; c++)
        sum[c] = dot[c] = 0;
    for (g = 0; g < b.groups; g++)
        for (c = 0; c < ch->c; c++) {
            sum[c] += (double)room[2 * g * ch->c + c];
            dot[c] += (double)room[2 * g * ch->c + ch->c + c];
        }
}

/* ---- sweeps ---- */

/*
 * A sweep sees stretches of elements with the parameters that belong to them:
 * with channels last a stretch is some pixels, and parameters are repeated to
 * its length; else it is one channel of one sample, with one of each.
 */
struct sweep {
    const struct cr_channel_kernel *k;
    const struct cr_channels *ch;
    const struct cr_channel_map *map;
    const struct cr_channel_backward *back;
    int64_t stretch;
    const cr_real *param[PARAMS]; /* NULL: none */
};

/* Piece by piece. */
static void map_low(const struct sweep *w, int64_t at, int64_t n)
{
    const struct cr_channels *ch = w->ch;
    const struct cr_channel_low *low = ch->low;
    const struct cr_channel_map *m = w->map;
    cr_real room_x[PERIOD], room_y[PERIOD];
    int64_t i, k;
    int j;

    for (i = 0; i < n; i += k) {
        const cr_real *param[4], *more = m->more ? m->more + at + i : NULL, *x;
        cr_real *y = low->y ? room_y : m->y + at + i;

        k = n - i < PERIOD ? n - i : PERIOD;
        x = piece(ch, low->x, m->x, at + i, k, room_x);
        for (j = 0; j < 4; j++)
            param[j] = w->param[j] && ch->last ? w->param[j] + i : w->param[j];
        if (ch->last)
            w->k->map_many(k, x, more, param, m->relu, y);
        else
            w->k->map_one(k, x, more, param, at / ch->s % ch->c, m->relu, y);
        if (m->map)
            m->map(m->attr, k, y, y);
        piece_put(ch, low->y, low->rounds_y, m->y, at + i, k, y);
    }
}

static void map_stretch(const struct sweep *w, int64_t at, int64_t n)
{
    const struct cr_channel_map *m = w->map;
    const cr_real *more = m->more ? m->more + at : NULL;

    if (w->ch->low) {
        map_low(w, at, n);
        return;
    }
    if (w->ch->last)
        w->k->map_many(n, m->x + at, more, w->param, m->relu, m->y + at);
    else
        w->k->map_one(n, m->x + at, more, w->param, at / w->ch->s % w->ch->c,
                      m->relu, m->y + at);
    if (m->map)
        m->map(m->attr, n, m->y + at, m->y + at);
}

/* d of k numbers from number `at` on. */
static void mask_piece(const struct sweep *w, int64_t k, int64_t at,
                       const cr_real *x, const cr_real *dy, const cr_real *y,
                       const cr_real *const *param, cr_real *d)
{
    cr_real room[PERIOD];

    if (w->back->mask.grad)
        grad_piece(w->k, w->ch->last, &w->back->mask, k, x, dy, param + MASK,
                   at / w->ch->s % w->ch->c, room, d);
    else if (y)
        w->k->back_mask(k, dy, y, d);
    else if (w->ch->last)
        w->k->mask_many(k, x, dy, param + MASK, d);
    else
        w->k->mask_one(k, x, dy, param + MASK, at / w->ch->s % w->ch->c, d);
}

static void back_stretch(const struct sweep *w, int64_t at, int64_t n)
{
    const struct cr_channel_backward *b = w->back;
    const struct cr_channel_low none = { .x = false },
                                *low = w->ch->low ? w->ch->low : &none;
    cr_real room[PERIOD], room_x[PERIOD], room_y[PERIOD], room_d[PERIOD];
    cr_real room_dx[PERIOD];
    int64_t i, k;

    /* with channels last a stretch may be longer than the room for d */
    for (i = 0; i < n; i += k) {
        const cr_real *param[PARAMS], *d, *x, *y;
        cr_real *dx = low->dx ? room_dx : b->dx ? b->dx + at + i : NULL;
        int j;

        k = n - i < PERIOD ? n - i : PERIOD;
        d = piece(w->ch, low->dy, b->dy, at + i, k, room_d);
        x = piece(w->ch, low->x, b->x, at + i, k, room_x);
        y = piece(w->ch, low->y, b->mask.y, at + i, k, room_y);
        for (j = 0; j < PARAMS; j++)
            param[j] =
                w->param[j] && w->ch->last ? w->param[j] + i : w->param[j];
        if (y || b->mask.scale) {
            mask_piece(w, k, at, x, d, y, param, room);
            d = room;
        }
        if (b->dx && w->ch->last)
            w->k->back_many(k, x, d, param, b->add_dx, dx);
        else if (b->dx)
            w->k->back_one(k, x, d, param, at / w->ch->s % w->ch->c, b->add_dx,
                           dx);
        if (b->dx)
            piece_put(w->ch, low->dx, low->rounds_dx, b->dx, at + i, k, dx);
        if (b->dmore)
            w->k->back_copy(k, d, b->add_more, b->dmore + at + i);
    }
}

static void sweep_range(void *ctx, int64_t from, int64_t to)
{
    const struct sweep *w = ctx;
    int64_t i, all = w->ch->n * w->ch->c * w->ch->s;

    for (i = from; i < to; i++) {
        int64_t at = i * w->stretch, left = all - at;
        int64_t n = left < w->stretch ? left : w->stretch;

        if (w->map)
            map_stretch(w, at, n);
        else
            back_stretch(w, at, n);
    }
}

static void sweep_run(struct sweep *w, cr_real *room)
{
    const struct cr_channels *ch = w->ch;
    int64_t all = ch->n * ch->c * ch->s;

    w->stretch = ch->last ? period(ch) : ch->s;
    if (ch->last)
        repeat(ch, PARAMS, w->param, room);
    cr_parallel_for_coarse((all + w->stretch - 1) / w->stretch,
                           0.5 * (double)w->stretch, w, sweep_range);
}

void cr_channel_map(const struct cr_channels *ch,
                    const struct cr_channel_map *map, cr_real *room)
{
    struct sweep w = { .k = kernel(),
                       .ch = ch,
                       .map = map,
                       .param = { map->mean, map->scale, map->shift } };

    sweep_run(&w, room);
}

void cr_channel_backward(const struct cr_channels *ch,
                         const struct cr_channel_backward *back, cr_real *room)
{
    struct sweep w = { .k = kernel(),
                       .ch = ch,
                       .back = back,
                       .param = { back->mean, back->scale, back->shift,
                                  back->slope, back->mean, back->mask.scale,
                                  back->mask.shift } };

    sweep_run(&w, room);
}

void cr_channel_affine(int64_t c, double eps, const cr_real *gamma,
                       const cr_real *beta, const cr_real *mean,
                       const cr_real *variance, cr_real *scale, cr_real *shift)
{
    int64_t i;

    for (i = 0; i < c; i++) {
        double a = (double)gamma[i] / sqrt((double)variance[i] + eps);

        scale[i] = (cr_real)a;
        shift[i] = (cr_real)((double)beta[i] - (double)mean[i] * a);
    }
}

#include "kernels/channel.h"

#include "base/compiler.h"
#include "kernels/parallel_for.h"

#define LANES 16
#define RUN 1024   /* elements summed in cr_real */
#define PERIOD 256 /* parameters are repeated to at least so many */

struct cr_channels cr_channels(const struct cr_spec *spec)
{
    struct cr_channels ch = { spec->dim[0], spec->dim[1], 1,
                              spec->layout == CR_CHANNELS_LAST };
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
    const struct cr_channels *ch;
    int64_t per, groups, rows; /* rows or samples: in a block, blocks, all */
    const cr_real *x, *mean, *dy, *y;
    cr_real *part; /* (groups, 2, c) */
};

static struct blocks blocks_of(const struct cr_channels *ch)
{
    struct blocks b = { .ch = ch };

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

static int64_t period(const struct cr_channels *ch)
{
    return (PERIOD + ch->c - 1) / ch->c * ch->c;
}

int64_t cr_channel_thread_scratch(const struct cr_channels *ch)
{
    int64_t sums = blocks_of(ch).groups * 2 * ch->c, maps = 4 * period(ch);

    return sums > maps ? sums : maps;
}

static int64_t block_size(const struct blocks *b, int64_t group)
{
    int64_t left = b->rows - group * b->per;

    return left < b->per ? left : b->per;
}

/* Lanes are added in pairs, so that errors stay small. */
CR_INLINE double lanes_sum(cr_real *v)
{
    int w, k;

    for (w = LANES / 2; w > 0; w /= 2)
        for (k = 0; k < w; k++)
            v[k] += v[k + w];
    return (double)v[0];
}

/* Mean, and squares around it, of `w` neighbouring channels. */
CR_INLINE void moments_tile(int64_t rows, int64_t c, int w, const cr_real *x,
                            cr_real *mean, cr_real *square)
{
    cr_real s[LANES] = { 0 }, q[LANES] = { 0 };
    int64_t r;
    int k;

    for (r = 0; r < rows; r++) {
        CR_SIMD
        for (k = 0; k < w; k++)
            s[k] += x[r * c + k];
    }
    CR_SIMD
    for (k = 0; k < w; k++)
        s[k] /= (cr_real)rows;
    for (r = 0; r < rows; r++) {
        CR_SIMD
        for (k = 0; k < w; k++) {
            cr_real d = x[r * c + k] - s[k];

            q[k] += d * d;
        }
    }
    for (k = 0; k < w; k++) {
        mean[k] = s[k];
        square[k] = q[k];
    }
}

CR_CLONES
static void moments_last(int64_t rows, int64_t c, const cr_real *x,
                         cr_real *part)
{
    int64_t at;

    for (at = 0; at + LANES <= c; at += LANES)
        moments_tile(rows, c, LANES, x + at, part + at, part + c + at);
    if (at < c)
        moments_tile(rows, c, (int)(c - at), x + at, part + at, part + c + at);
}

/* sum (x - from)^power of a run of at most RUN elements */
CR_INLINE double run_sum(int64_t n, const cr_real *x, cr_real from, int power)
{
    cr_real v[LANES] = { 0 };
    int64_t i;
    int k;

    for (i = 0; i + LANES <= n; i += LANES) {
        CR_SIMD
        for (k = 0; k < LANES; k++) {
            cr_real d = x[i + k] - from;

            v[k] += power == 2 ? d * d : d;
        }
    }
    for (k = 0; i < n; i++, k++) {
        cr_real d = x[i] - from;

        v[k] += power == 2 ? d * d : d;
    }
    return lanes_sum(v);
}

/* The same of all `n` samples of a channel; `step` between samples. */
CR_INLINE double runs_sum(int64_t n, int64_t s, int64_t step, const cr_real *x,
                          cr_real from, int power)
{
    double sum = 0;
    int64_t i, at;

    for (i = 0; i < n; i++)
        for (at = 0; at < s; at += RUN)
            sum += run_sum(s - at < RUN ? s - at : RUN, x + i * step + at, from,
                           power);
    return sum;
}

CR_CLONES
static void moments_plain(int64_t n, int64_t c, int64_t s, const cr_real *x,
                          cr_real *part)
{
    double sum = runs_sum(n, s, c * s, x, 0, 1);

    part[0] = (cr_real)(sum / (double)(n * s));
    part[c] = (cr_real)runs_sum(n, s, c * s, x, part[0], 2);
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

        if (ch->last)
            moments_last(n, ch->c, b->x + group * b->per * ch->c, part);
        else
            moments_plain(n, ch->c, ch->s,
                          b->x + (group * b->per * ch->c + c) * ch->s, part);
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

CR_INLINE void sums_tile(int64_t rows, int64_t c, int w, bool masked,
                         const cr_real *x, const cr_real *mean,
                         const cr_real *dy, const cr_real *y, cr_real *part)
{
    cr_real s[LANES] = { 0 }, q[LANES] = { 0 }, m[LANES] = { 0 };
    int64_t r;
    int k;

    for (k = 0; k < w; k++)
        m[k] = mean[k];
    for (r = 0; r < rows; r++) {
        CR_SIMD
        for (k = 0; k < w; k++) {
            cr_real d = dy[r * c + k];

            if (masked)
                d = y[r * c + k] <= 0 ? 0 : d;
            s[k] += d;
            q[k] += d * (x[r * c + k] - m[k]);
        }
    }
    for (k = 0; k < w; k++) {
        part[k] = s[k];
        part[c + k] = q[k];
    }
}

CR_CLONES
static void sums_last(int64_t rows, int64_t c, const cr_real *x,
                      const cr_real *mean, const cr_real *dy, const cr_real *y,
                      cr_real *part)
{
    int64_t at;

    for (at = 0; at + LANES <= c && !y; at += LANES)
        sums_tile(rows, c, LANES, false, x + at, mean + at, dy + at, NULL,
                  part + at);
    for (; at + LANES <= c; at += LANES)
        sums_tile(rows, c, LANES, true, x + at, mean + at, dy + at, y + at,
                  part + at);
    if (at < c && !y)
        sums_tile(rows, c, (int)(c - at), false, x + at, mean + at, dy + at,
                  NULL, part + at);
    else if (at < c)
        sums_tile(rows, c, (int)(c - at), true, x + at, mean + at, dy + at,
                  y + at, part + at);
}

/* Both sums over a run, added to to[0] and to[1]. */
CR_INLINE void run_sums(int64_t n, bool masked, const cr_real *x, cr_real mean,
                        const cr_real *dy, const cr_real *y, double *to)
{
    cr_real s[LANES] = { 0 }, q[LANES] = { 0 };
    int64_t i;
    int k;

    for (i = 0; i + LANES <= n; i += LANES) {
        CR_SIMD
        for (k = 0; k < LANES; k++) {
            cr_real d = dy[i + k];

            if (masked)
                d = y[i + k] <= 0 ? 0 : d;
            s[k] += d;
            q[k] += d * (x[i + k] - mean);
        }
    }
    for (k = 0; i < n; i++, k++) {
        cr_real d = masked && y[i] <= 0 ? 0 : dy[i];

        s[k] += d;
        q[k] += d * (x[i] - mean);
    }
    to[0] += lanes_sum(s);
    to[1] += lanes_sum(q);
}

CR_CLONES
static void sums_plain(int64_t n, int64_t c, int64_t s, const cr_real *x,
                       cr_real mean, const cr_real *dy, const cr_real *y,
                       cr_real *part)
{
    double sum[2] = { 0 };
    int64_t i, at;

    for (i = 0; i < n; i++)
        for (at = i * c * s; at < i * c * s + s; at += RUN) {
            int64_t left = i * c * s + s - at, run = left < RUN ? left : RUN;

            if (y)
                run_sums(run, true, x + at, mean, dy + at, y + at, sum);
            else
                run_sums(run, false, x + at, mean, dy + at, NULL, sum);
        }
    part[0] = (cr_real)sum[0];
    part[c] = (cr_real)sum[1];
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

        at += c * ch->s;
        if (ch->last)
            sums_last(n, ch->c, b->x + at, b->mean, b->dy + at,
                      b->y ? b->y + at : NULL, part);
        else
            sums_plain(n, ch->c, ch->s, b->x + at, b->mean[c], b->dy + at,
                       b->y ? b->y + at : NULL, part);
    }
}

void cr_channel_sums(const struct cr_channels *ch, const cr_real *x,
                     const cr_real *mean, const cr_real *dy, const cr_real *y,
                     cr_real *room, double *sum, double *dot)
{
    struct blocks b = blocks_of(ch);
    int64_t g, c;

    b.x = x;
    b.mean = mean;
    b.dy = dy;
    b.y = y;
    b.part = room;
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
    const struct cr_channels *ch;
    const struct cr_channel_map *map;
    const struct cr_channel_backward *back;
    int64_t stretch;
    const cr_real *param[4]; /* NULL: none */
};

CR_INLINE void map_body(int64_t n, int inc, const cr_real *x,
                        const cr_real *more, const cr_real *mean,
                        const cr_real *scale, const cr_real *shift, bool relu,
                        cr_real *y)
{
    int64_t i;

#define MAP_LOOP(plus, act)                                                \
    CR_SIMD                                                                \
    for (i = 0; i < n; i++) {                                              \
        cr_real v =                                                        \
            (x[i] - mean[i * inc]) * scale[i * inc] + shift[i * inc] plus; \
        y[i] = act;                                                        \
    }
    if (more && relu)
        MAP_LOOP(+more[i], v < 0 ? 0 : v)
    else if (more)
        MAP_LOOP(+more[i], v)
    else if (relu)
        MAP_LOOP(, v < 0 ? 0 : v)
    else
        MAP_LOOP(, v)
#undef MAP_LOOP
}

CR_CLONES
static void map_many(int64_t n, const cr_real *x, const cr_real *more,
                     const cr_real *const *param, bool relu, cr_real *y)
{
    map_body(n, 1, x, more, param[0], param[1], param[2], relu, y);
}

CR_CLONES
static void map_one(int64_t n, const cr_real *x, const cr_real *more,
                    const cr_real *const *param, int64_t c, bool relu,
                    cr_real *y)
{
    const cr_real mean = param[0][c], scale = param[1][c], shift = param[2][c];

    map_body(n, 0, x, more, &mean, &scale, &shift, relu, y);
}

static void map_stretch(const struct sweep *w, int64_t at, int64_t n)
{
    const struct cr_channel_map *m = w->map;
    const cr_real *more = m->more ? m->more + at : NULL;

    if (w->ch->last)
        map_many(n, m->x + at, more, w->param, m->relu, m->y + at);
    else
        map_one(n, m->x + at, more, w->param, at / w->ch->s % w->ch->c, m->relu,
                m->y + at);
}

CR_CLONES
static void back_mask(int64_t n, const cr_real *dy, const cr_real *y,
                      cr_real *d)
{
    int64_t i;

    CR_SIMD
    for (i = 0; i < n; i++)
        d[i] = y[i] <= 0 ? 0 : dy[i];
}

CR_CLONES
static void back_copy(int64_t n, const cr_real *d, bool add, cr_real *to)
{
    int64_t i;

    if (add) {
        CR_SIMD
        for (i = 0; i < n; i++)
            to[i] += d[i];
    } else {
        CR_SIMD
        for (i = 0; i < n; i++)
            to[i] = d[i];
    }
}

CR_INLINE void back_body(int64_t n, int inc, const cr_real *x, const cr_real *d,
                         const cr_real *mean, const cr_real *scale,
                         const cr_real *shift, const cr_real *slope, bool add,
                         cr_real *dx)
{
    int64_t i;

#define BACK_LOOP(formula)  \
    CR_SIMD                 \
    for (i = 0; i < n; i++) \
        dx[i] = formula;
#define BACK_FULL     \
    (scale[i * inc] * \
     (d[i] - shift[i * inc] - (x[i] - mean[i * inc]) * slope[i * inc]))
    if (slope && add)
        BACK_LOOP(dx[i] + BACK_FULL)
    else if (slope)
        BACK_LOOP(BACK_FULL)
    else if (add)
        BACK_LOOP(dx[i] + scale[i * inc] * d[i])
    else
        BACK_LOOP(scale[i * inc] * d[i])
#undef BACK_FULL
#undef BACK_LOOP
}

CR_CLONES
static void back_many(int64_t n, const cr_real *x, const cr_real *d,
                      const cr_real *const *param, bool add, cr_real *dx)
{
    back_body(n, 1, x, d, param[0], param[1], param[2], param[3], add, dx);
}

CR_CLONES
static void back_one(int64_t n, const cr_real *x, const cr_real *d,
                     const cr_real *const *param, int64_t c, bool add,
                     cr_real *dx)
{
    const cr_real scale = param[1][c];

    if (param[3]) {
        const cr_real mean = param[0][c], shift = param[2][c],
                      slope = param[3][c];

        back_body(n, 0, x, d, &mean, &scale, &shift, &slope, add, dx);
    } else {
        back_body(n, 0, x, d, NULL, &scale, NULL, NULL, add, dx);
    }
}

static void back_stretch(const struct sweep *w, int64_t at, int64_t n)
{
    const struct cr_channel_backward *b = w->back;
    cr_real room[PERIOD];
    int64_t i, k;

    /* with channels last a stretch may be longer than the room for d */
    for (i = 0; i < n; i += k) {
        const cr_real *param[4], *d = b->dy + at + i, *x = b->x + at + i;
        int j;

        k = n - i < PERIOD ? n - i : PERIOD;
        if (b->y) {
            back_mask(k, d, b->y + at + i, room);
            d = room;
        }
        for (j = 0; j < 4; j++)
            param[j] =
                w->param[j] && w->ch->last ? w->param[j] + i : w->param[j];
        if (b->dx && w->ch->last)
            back_many(k, x, d, param, b->add_dx, b->dx + at + i);
        else if (b->dx)
            back_one(k, x, d, param, at / w->ch->s % w->ch->c, b->add_dx,
                     b->dx + at + i);
        if (b->dmore)
            back_copy(k, d, b->add_more, b->dmore + at + i);
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
    int64_t p = period(ch), i, all = ch->n * ch->c * ch->s;
    int k;

    w->stretch = ch->last ? p : ch->s;
    for (k = 0; k < 4 && ch->last; k++)
        if (w->param[k]) {
            for (i = 0; i < p; i++)
                room[k * p + i] = w->param[k][i % ch->c];
            w->param[k] = room + k * p;
        }
    cr_parallel_for_coarse((all + w->stretch - 1) / w->stretch,
                           0.5 * (double)w->stretch, w, sweep_range);
}

void cr_channel_map(const struct cr_channels *ch,
                    const struct cr_channel_map *map, cr_real *room)
{
    struct sweep w = { .ch = ch,
                       .map = map,
                       .param = { map->mean, map->scale, map->shift } };

    sweep_run(&w, room);
}

void cr_channel_backward(const struct cr_channels *ch,
                         const struct cr_channel_backward *back, cr_real *room)
{
    struct sweep w = { .ch = ch,
                       .back = back,
                       .param = { back->mean, back->scale, back->shift,
                                  back->slope } };

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

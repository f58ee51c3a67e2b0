/* Sums and sweeps per channel against plain loops in double: both layouts,
 * sizes that fill no block, and the same bytes for any number of threads. */
#include "kernels/channel.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread_pool.h"
#include "tap.h"

static uint32_t seed = 1;

static cr_real noise(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (cr_real)((double)(seed >> 8) / (1 << 23) - 1);
}

static cr_real *numbers(int64_t n)
{
    cr_real *x = malloc((size_t)n * sizeof *x);
    int64_t i;

    for (i = 0; i < n; i++)
        x[i] = noise();
    return x;
}

/* The index of element (n, c, s). */
static int64_t at(const struct cr_channels *ch, int64_t n, int64_t c, int64_t s)
{
    return ch->last ? (n * ch->s + s) * ch->c + c : (n * ch->c + c) * ch->s + s;
}

static bool near(double got, double want, double size)
{
    bool good = fabs(got - want) <= 8 * (double)CR_REAL_EPS * size;

    if (!good)
        printf("# %.17g should be %.17g, of %g\n", got, want, size);
    return good;
}

struct all {
    struct cr_channels ch;
    int64_t n;
    cr_real *x, *dy, *y, *more, *room, *out, *dx, *dmore;
    cr_real *mean, *scale, *shift, *slope;
    double *sums; /* four rows of c */
};

static void run(struct all *a)
{
    struct cr_channel_map map = { .x = a->x,
                                  .more = a->more,
                                  .mean = a->mean,
                                  .scale = a->scale,
                                  .shift = a->shift,
                                  .relu = true,
                                  .y = a->out };
    struct cr_channel_backward back = { .x = a->x,
                                        .dy = a->dy,
                                        .mask.y = a->y,
                                        .mean = a->mean,
                                        .scale = a->scale,
                                        .shift = a->shift,
                                        .slope = a->slope,
                                        .dx = a->dx,
                                        .dmore = a->dmore,
                                        .add_more = true };
    int64_t c = a->ch.c;

    cr_channel_moments(&a->ch, a->x, a->room, a->sums, a->sums + c);
    cr_channel_sums(&a->ch, a->x, a->mean, a->dy, &back.mask, a->room,
                    a->sums + 2 * c, a->sums + 3 * c);
    cr_channel_map(&a->ch, &map, a->room);
    memset(a->dmore, 0, (size_t)a->n * sizeof(cr_real));
    cr_channel_backward(&a->ch, &back, a->room);
}

static bool check_sums(const struct all *a)
{
    const struct cr_channels *ch = &a->ch;
    double m = (double)(ch->n * ch->s);
    int64_t n, c, s;
    bool good = true;

    for (c = 0; c < ch->c; c++) {
        double mean = 0, square = 0, sum = 0, dot = 0;

        for (n = 0; n < ch->n; n++)
            for (s = 0; s < ch->s; s++)
                mean += (double)a->x[at(ch, n, c, s)] / m;
        for (n = 0; n < ch->n; n++)
            for (s = 0; s < ch->s; s++) {
                int64_t i = at(ch, n, c, s);
                double off = (double)a->x[i] - mean;
                double d = a->y[i] <= 0 ? 0 : (double)a->dy[i];

                square += off * off / m;
                sum += d;
                dot += d * (double)(a->x[i] - a->mean[c]);
            }
        good = near(a->sums[c], mean, 1) &&
               near(a->sums[ch->c + c], square, 1) &&
               near(a->sums[2 * ch->c + c], sum, sqrt(m) + 1) &&
               near(a->sums[3 * ch->c + c], dot, sqrt(m) + 1) && good;
    }
    return good;
}

static bool check_sweeps(const struct all *a)
{
    const struct cr_channels *ch = &a->ch;
    int64_t n, c, s;
    bool good = true;

    for (c = 0; c < ch->c; c++)
        for (n = 0; n < ch->n; n++)
            for (s = 0; s < ch->s; s++) {
                int64_t i = at(ch, n, c, s);
                double off = (double)a->x[i] - (double)a->mean[c];
                double d = a->y[i] <= 0 ? 0 : (double)a->dy[i];
                double y = off * (double)a->scale[c] + (double)a->shift[c] +
                           (double)a->more[i];

                good = near(a->out[i], y < 0 ? 0 : y, 4) &&
                       near(a->dmore[i], d, 1) &&
                       near(a->dx[i],
                            (double)a->scale[c] * d - (double)a->shift[c] -
                                off * (double)a->slope[c],
                            4) &&
                       good;
            }
    return good;
}

static void check(struct cr_channels ch)
{
    struct all a = { .ch = ch, .n = ch.n * ch.c * ch.s };
    size_t bytes = (size_t)a.n * sizeof(cr_real);
    size_t sums = 4 * (size_t)ch.c * sizeof(double);
    cr_real *first = malloc(3 * bytes);
    double *first_sums = malloc(sums);

    a.x = numbers(a.n);
    a.dy = numbers(a.n);
    a.y = numbers(a.n);
    a.more = numbers(a.n);
    a.out = numbers(a.n);
    a.dx = numbers(a.n);
    a.dmore = numbers(a.n);
    a.room = numbers(cr_channel_thread_scratch(&ch));
    a.mean = numbers(4 * ch.c);
    a.scale = a.mean + ch.c;
    a.shift = a.scale + ch.c;
    a.slope = a.shift + ch.c;
    a.sums = malloc(sums);
    run(&a);
    ok(check_sums(&a), "sums of (%d, %d, %d)%s", (int)ch.n, (int)ch.c,
       (int)ch.s, ch.last ? ", channels last" : "");
    ok(check_sweeps(&a), "sweeps of (%d, %d, %d)%s", (int)ch.n, (int)ch.c,
       (int)ch.s, ch.last ? ", channels last" : "");
    memcpy(first, a.out, bytes);
    memcpy(first + a.n, a.dx, bytes);
    memcpy(first + 2 * a.n, a.dmore, bytes);
    memcpy(first_sums, a.sums, sums);
    cr_thread_pool_start(3);
    run(&a);
    ok(memcmp(first, a.out, bytes) == 0 &&
           memcmp(first + a.n, a.dx, bytes) == 0 &&
           memcmp(first + 2 * a.n, a.dmore, bytes) == 0 &&
           memcmp(first_sums, a.sums, sums) == 0,
       "the same bytes with three threads");
    cr_thread_pool_start(1);
    free(a.x);
    free(a.dy);
    free(a.y);
    free(a.more);
    free(a.out);
    free(a.dx);
    free(a.dmore);
    free(a.room);
    free(a.mean);
    free(a.sums);
    free(first);
    free(first_sums);
}

static void twice(const void *attr, int64_t n, const cr_real *x,
                  const cr_real *y, const cr_real *dy, cr_real *d)
{
    int64_t i;

    (void)attr;
    (void)x;
    (void)y;
    for (i = 0; i < n; i++)
        d[i] = 2 * dy[i];
}

/* Sums leave the scratch memory alone that is taken. */
static void check_taken(bool last)
{
    struct cr_channels ch = { .n = 2, .c = 3, .s = 50, .last = last };
    int64_t n = ch.n * ch.c * ch.s, i;
    cr_real *x = numbers(n), *dy = numbers(n), *mean = numbers(3 * ch.c);
    cr_real *room = numbers(cr_channel_thread_scratch(&ch));
    struct cr_channel_mask mask = { .scale = mean + ch.c,
                                    .shift = mean + 2 * ch.c,
                                    .grad = twice };
    double sum[2][3], dot[2][3];
    bool kept = true;
    char *own;

    cr_channel_sums(&ch, x, mean, dy, &mask, room, sum[0], dot[0]);
    ch.taken = 4 * cr_channel_low_scratch(&ch) / 64 * 64;
    own = cr_thread_scratch(ch.taken + cr_channel_low_scratch(&ch));
    memset(own, 7, ch.taken);
    cr_channel_sums(&ch, x, mean, dy, &mask, room, sum[1], dot[1]);
    for (i = 0; i < (int64_t)ch.taken; i++)
        kept = kept && own[i] == 7;
    ok(kept && memcmp(sum[0], sum[1], sizeof sum[0]) == 0 &&
           memcmp(dot[0], dot[1], sizeof dot[0]) == 0,
       "scratch memory that is taken%s", last ? ", channels last" : "");
    free(x);
    free(dy);
    free(mean);
    free(room);
}

int main(void)
{
    static const int64_t shapes[][3] = { { 1, 1, 1 },   { 3, 1, 700 },
                                         { 67, 5, 1 },  { 9, 16, 49 },
                                         { 3, 33, 70 }, { 2, 3, 2500 },
                                         { 1, 300, 7 }, { 130, 64, 9 } };
    cr_real one = 2, half = (cr_real)0.5, scale, shift;
    size_t i;

    cr_thread_pool_start(1);
    test_begin("all shapes, channels first and last");
    for (i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        struct cr_spec spec = CR_SPEC(shapes[i][0], shapes[i][1], shapes[i][2]);

        check(cr_channels(&spec));
        spec.layout = CR_CHANNELS_LAST;
        check(cr_channels(&spec));
    }
    test_end();
    check_taken(false);
    check_taken(true);
    cr_channel_affine(1, 0.25, &one, &half, &one, &one, &scale, &shift);
    ok(near(scale, 2 / 1.5, 1) && near(shift, 0.5 - 4 / 1.5, 4),
       "normalising is a scale and a shift");
    cr_thread_pool_stop();
    return done();
}

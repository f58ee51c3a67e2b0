/* Convolutions: all ways to compute them, in both layouts, against the plain
 * loop in double; and the same bytes for any number of threads. */
#include "math/conv.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/par.h"
#include "math/im2col.h"
#include "tap.h"

#define EPS ((double)CR_REAL_EPS)

static uint32_t seed = 7;

/* In (-1, 1). */
static cr_real noise(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (cr_real)((double)(seed >> 8) / (1 << 23) - 1);
}

/* At the end of its memory, so that a step beyond is seen. */
static cr_real *numbers(int64_t n)
{
    cr_real *x = malloc((size_t)(n > 0 ? n : 1) * sizeof *x);
    int64_t i;

    for (i = 0; i < n; i++)
        x[i] = noise();
    return x;
}

/* n, ci, co, group; in, kernel, stride, dilation, before of depth, height,
 * width; zeros behind are what `after` says. */
struct shape {
    int64_t n, ci, co, group;
    int64_t in[3], kernel[3], stride[3], dilation[3], before[3], after[3];
};

#define ONE     \
    {           \
        1, 1, 1 \
    }
#define NONE    \
    {           \
        0, 0, 0 \
    }
static const struct shape shapes[] = {
    { 1, 1, 1, 1, { 1, 1, 1 }, ONE, ONE, ONE, NONE, NONE },
    { 3,
      3,
      5,
      1,
      { 1, 7, 9 },
      { 1, 3, 3 },
      ONE,
      ONE,
      { 0, 1, 1 },
      { 0, 1, 1 } },
    { 2,
      16,
      16,
      1,
      { 1, 9, 17 },
      { 1, 3, 3 },
      ONE,
      ONE,
      { 0, 1, 1 },
      { 0, 1, 1 } },
    { 9,
      16,
      32,
      1,
      { 1, 8, 30 },
      { 1, 3, 3 },
      { 1, 2, 2 },
      ONE,
      NONE,
      { 0, 1, 1 } },
    { 2,
      17,
      33,
      1,
      { 1, 6, 5 },
      { 1, 3, 2 },
      { 1, 1, 3 },
      ONE,
      { 0, 2, 0 },
      { 0, 0, 3 } },
    { 2,
      40,
      20,
      1,
      { 1, 5, 28 },
      { 1, 3, 3 },
      ONE,
      { 1, 2, 3 },
      { 0, 2, 3 },
      { 0, 2, 3 } },
    { 4,
      12,
      20,
      4,
      { 1, 6, 7 },
      { 1, 3, 3 },
      ONE,
      ONE,
      { 0, 1, 1 },
      { 0, 1, 1 } },
    { 2, 34, 36, 2, { 1, 5, 6 }, { 1, 1, 1 }, { 1, 2, 2 }, ONE, NONE, NONE },
    { 2,
      6,
      6,
      6,
      { 1, 6, 7 },
      { 1, 3, 3 },
      { 1, 2, 1 },
      ONE,
      { 0, 1, 1 },
      { 0, 1, 1 } },
    { 3,
      19,
      38,
      19,
      { 1, 5, 9 },
      { 1, 3, 3 },
      ONE,
      ONE,
      { 0, 1, 1 },
      { 0, 1, 1 } },
    { 5, 1, 6, 1, { 1, 32, 32 }, { 1, 5, 5 }, ONE, ONE, NONE, NONE },
    { 5, 6, 16, 1, { 1, 14, 14 }, { 1, 5, 5 }, ONE, ONE, NONE, NONE },
    { 2, 2, 3, 1, { 1, 9, 8 }, { 1, 2, 2 }, { 1, 3, 4 }, ONE, NONE, NONE },
    { 1,
      20,
      40,
      1,
      { 1, 1, 50 },
      { 1, 1, 7 },
      ONE,
      ONE,
      { 0, 0, 3 },
      { 0, 0, 3 } },
    { 2,
      3,
      4,
      1,
      { 4, 5, 6 },
      { 2, 3, 3 },
      { 1, 2, 1 },
      { 2, 1, 1 },
      { 1, 1, 0 },
      { 1, 0, 2 } },
    { 2,
      4,
      6,
      2,
      { 3, 4, 4 },
      { 3, 3, 1 },
      ONE,
      ONE,
      { 1, 1, 0 },
      { 1, 1, 0 } },
    { 3,
      3,
      16,
      1,
      { 1, 33, 47 },
      { 1, 7, 7 },
      { 1, 2, 2 },
      ONE,
      { 0, 3, 3 },
      { 0, 3, 3 } },
    { 2,
      130,
      70,
      1,
      { 1, 4, 4 },
      { 1, 3, 3 },
      ONE,
      ONE,
      { 0, 1, 1 },
      { 0, 1, 1 } },
    { 1,
      2,
      3,
      1,
      { 1, 70, 130 },
      { 1, 3, 3 },
      ONE,
      ONE,
      { 0, 1, 1 },
      { 0, 1, 1 } },
    { 2,
      5,
      7,
      1,
      { 1, 2, 3 },
      { 1, 3, 3 },
      { 1, 2, 2 },
      ONE,
      { 0, 4, 3 },
      { 0, 2, 5 } },
};

static int64_t size3(const int64_t d[3])
{
    return d[0] * d[1] * d[2];
}

static struct cr_conv conv(const struct shape *s, enum cr_layout layout)
{
    struct cr_conv c = { .n = s->n,
                         .group = s->group,
                         .ci = s->ci,
                         .co = s->co,
                         .x = layout,
                         .y = layout };
    int i;

    for (i = 0; i < 3; i++) {
        c.in[i] = s->in[i];
        c.kernel[i] = s->kernel[i];
        c.stride[i] = s->stride[i];
        c.dilation[i] = s->dilation[i];
        c.before[i] = s->before[i];
        c.out[i] = (s->in[i] + s->before[i] + s->after[i] -
                    s->dilation[i] * (s->kernel[i] - 1) - 1) /
                       s->stride[i] +
                   1;
    }
    return c;
}

static int64_t at(enum cr_layout layout, const int64_t dim[3], int64_t channels,
                  int64_t n, int64_t c, int64_t s)
{
    return layout == CR_LAST ? (n * size3(dim) + s) * channels + c
                             : (n * channels + c) * size3(dim) + s;
}

/* All products of the convolution: what it says, and nothing else. */
struct naive {
    double *y, *dx, *dw;                /* sums */
    double *y_size, *dx_size, *dw_size; /* of absolute values */
};

static void naive(const struct cr_conv *c, const cr_real *x, const cr_real *w,
                  const cr_real *dy, struct naive *to)
{
    int64_t n, o, q, k, ch, i, cig = c->ci / c->group, cog = c->co / c->group;

    for (n = 0; n < c->n; n++)
        for (o = 0; o < c->co; o++)
            for (q = 0; q < size3(c->out); q++)
                for (ch = 0; ch < cig; ch++)
                    for (k = 0; k < size3(c->kernel); k++) {
                        int64_t qs[3], ks[3], s = 0;
                        int64_t yi, xi, wi;
                        double a, b, g;
                        bool inside = true;

                        qs[0] = q / (c->out[1] * c->out[2]);
                        qs[1] = q / c->out[2] % c->out[1];
                        qs[2] = q % c->out[2];
                        ks[0] = k / (c->kernel[1] * c->kernel[2]);
                        ks[1] = k / c->kernel[2] % c->kernel[1];
                        ks[2] = k % c->kernel[2];
                        for (i = 0; i < 3; i++) {
                            int64_t p = qs[i] * c->stride[i] +
                                        ks[i] * c->dilation[i] - c->before[i];

                            inside = inside && p >= 0 && p < c->in[i];
                            s = s * c->in[i] + p;
                        }
                        if (!inside)
                            continue;
                        yi = at(c->y, c->out, c->co, n, o, q);
                        xi = at(c->x, c->in, c->ci, n, o / cog * cig + ch, s);
                        wi = (o * cig + ch) * size3(c->kernel) + k;
                        a = (double)x[xi];
                        b = (double)w[wi];
                        g = (double)dy[yi];
                        to->y[yi] += a * b;
                        to->y_size[yi] += fabs(a * b);
                        to->dx[xi] += b * g;
                        to->dx_size[xi] += fabs(b * g);
                        to->dw[wi] += a * g;
                        to->dw_size[wi] += fabs(a * g);
                    }
}

static bool near(const char *what, const cr_real *got, const double *sum,
                 const double *size, int64_t terms, int64_t n,
                 const struct cr_conv_end *end, const cr_real *old,
                 enum cr_layout layout, int64_t channels, int64_t space)
{
    int64_t i;

    for (i = 0; i < n; i++) {
        int64_t c = layout == CR_LAST ? i % channels : i / space % channels;
        double want = sum[i] + (end->add ? (double)old[i] : 0) +
                      (end->bias ? (double)end->bias[c] : 0);
        double room = EPS * (size[i] + 3) * ((double)terms + 4);

        if (end->act == CR_ACT_RELU && want < 0)
            want = 0;
        if (end->mask && end->mask[i] <= 0)
            want = 0;
        if (!(fabs((double)got[i] - want) <= room)) {
            printf("# %s[%lld] is %.9g, not %.9g\n", what, (long long)i,
                   (double)got[i], want);
            return false;
        }
    }
    return true;
}

/* The three functions of one way. */
struct way {
    const char *name;
    size_t (*scratch)(const struct cr_conv *c);
    void (*forward)(const struct cr_conv *c, const cr_real *x, const cr_real *w,
                    const struct cr_conv_end *end, cr_real *y, void *scratch);
    void (*input)(const struct cr_conv *c, const cr_real *dy, const cr_real *w,
                  const struct cr_conv_end *end, cr_real *dx, void *scratch);
    void (*weight)(const struct cr_conv *c, const cr_real *x, const cr_real *dy,
                   cr_real alpha, bool add, cr_real *dw, void *scratch);
};

static const struct way ways[] = {
    { "chosen", cr_conv_scratch, cr_conv_forward, cr_conv_input,
      cr_conv_weight },
    { "im2col", cr_im2col_scratch, cr_im2col_forward, cr_im2col_input,
      cr_im2col_weight },
};

struct data {
    struct cr_conv c;
    int64_t nx, ny, nw;
    cr_real *x, *w, *dy, *bias, *old_x, *old_y, *old_w, *mask;
    struct naive naive;
};

static void data_make(struct data *d, const struct shape *s,
                      enum cr_layout layout)
{
    int64_t longest;

    d->c = conv(s, layout);
    d->nx = s->n * s->ci * size3(s->in);
    d->ny = s->n * s->co * size3(d->c.out);
    d->nw = s->co * (s->ci / s->group) * size3(s->kernel);
    longest = d->nx > d->ny ? d->nx : d->ny;
    d->x = numbers(d->nx);
    d->w = numbers(d->nw);
    d->dy = numbers(d->ny);
    d->bias = numbers(s->ci > s->co ? s->ci : s->co);
    d->old_x = numbers(d->nx);
    d->old_y = numbers(d->ny);
    d->old_w = numbers(d->nw);
    d->mask = numbers(longest);
    d->naive.y = calloc((size_t)d->ny, sizeof(double));
    d->naive.y_size = calloc((size_t)d->ny, sizeof(double));
    d->naive.dx = calloc((size_t)d->nx, sizeof(double));
    d->naive.dx_size = calloc((size_t)d->nx, sizeof(double));
    d->naive.dw = calloc((size_t)d->nw, sizeof(double));
    d->naive.dw_size = calloc((size_t)d->nw, sizeof(double));
    naive(&d->c, d->x, d->w, d->dy, &d->naive);
}

static void data_free(struct data *d)
{
    cr_real *reals[] = { d->x,     d->w,     d->dy,    d->bias,
                         d->old_x, d->old_y, d->old_w, d->mask };
    double *sums[] = { d->naive.y,      d->naive.dx,      d->naive.dw,
                       d->naive.y_size, d->naive.dx_size, d->naive.dw_size };
    size_t i;

    for (i = 0; i < sizeof reals / sizeof *reals; i++)
        free(reals[i]);
    for (i = 0; i < sizeof sums / sizeof *sums; i++)
        free(sums[i]);
}

/* NaN wherever nothing may be read. */
static cr_real *poisoned(int64_t n)
{
    cr_real *x = malloc((size_t)n * sizeof *x);

    memset(x, 0xff, (size_t)n * sizeof *x);
    return x;
}

/* variant: bits for bias, addition from elsewhere or in place, ReLU, mask. */
static struct cr_conv_end ending(const struct data *d, int variant,
                                 const cr_real *old, cr_real *to, int64_t n)
{
    if (variant & 4)
        memcpy(to, old, (size_t)n * sizeof *to);
    return (struct cr_conv_end){ .bias = variant & 1 ? d->bias : NULL,
                                 .add = variant & 4   ? to
                                        : variant & 2 ? old
                                                      : NULL,
                                 .act = variant & 8 ? CR_ACT_RELU : CR_ACT_NONE,
                                 .mask = variant & 16 ? d->mask : NULL };
}

static bool outputs(const struct way *way, const struct data *d, int variant,
                    void *scratch, size_t bytes)
{
    const struct cr_conv *c = &d->c;
    cr_real *y = poisoned(d->ny), *dx = poisoned(d->nx);
    struct cr_conv_end e = ending(d, variant, d->old_y, y, d->ny);
    bool good;

    memset(scratch, 0xff, bytes);
    way->forward(c, d->x, d->w, &e, y, scratch);
    good = near("y", y, d->naive.y, d->naive.y_size,
                c->ci / c->group * size3(c->kernel), d->ny, &e, d->old_y, c->y,
                c->co, size3(c->out));
    e = ending(d, variant, d->old_x, dx, d->nx);
    memset(scratch, 0xff, bytes);
    way->input(c, d->dy, d->w, &e, dx, scratch);
    good = near("dx", dx, d->naive.dx, d->naive.dx_size,
                c->co / c->group * size3(c->kernel), d->nx, &e, d->old_x, c->x,
                c->ci, size3(c->in)) &&
           good;
    free(y);
    free(dx);
    return good;
}

static bool weights(const struct way *way, const struct data *d, bool add,
                    void *scratch, size_t bytes)
{
    const struct cr_conv *c = &d->c;
    cr_real *dw = poisoned(d->nw), alpha = add ? (cr_real)-0.25 : 1;
    struct cr_conv_end e = { .add = add ? dw : NULL };
    double *sum = malloc((size_t)d->nw * sizeof *sum);
    bool good;
    int64_t i;

    for (i = 0; i < d->nw; i++)
        sum[i] = (double)alpha * d->naive.dw[i];
    if (add)
        memcpy(dw, d->old_w, (size_t)d->nw * sizeof *dw);
    memset(scratch, 0xff, bytes);
    way->weight(c, d->x, d->dy, alpha, add, dw, scratch);
    good = near("dw", dw, sum, d->naive.dw_size, c->n * size3(c->out), d->nw,
                &e, d->old_w, CR_PLAIN, 1, 1);
    free(sum);
    free(dw);
    return good;
}

/* All three with so many threads, one behind the other. */
static cr_real *all_of(const struct way *way, const struct data *d, int threads)
{
    struct cr_conv_end e = { .bias = d->bias };
    cr_real *to = poisoned(d->nx + d->ny + d->nw);
    void *scratch;

    cr_par_start(threads);
    scratch = malloc(way->scratch(&d->c) + 1);
    way->forward(&d->c, d->x, d->w, &e, to, scratch);
    way->input(&d->c, d->dy, d->w, &e, to + d->ny, scratch);
    way->weight(&d->c, d->x, d->dy, 1, false, to + d->ny + d->nx, scratch);
    cr_par_start(1);
    free(scratch);
    return to;
}

static void check(const struct way *way, const struct shape *s,
                  enum cr_layout layout)
{
    static const int variants[] = { 0, 1, 2, 4, 8, 16, 13, 27 };
    struct data d;
    size_t bytes, i;
    void *scratch;
    bool good = true, same;
    cr_real *one, *more;
    char name[120];

    data_make(&d, s, layout);
    bytes = way->scratch(&d.c);
    scratch = malloc(bytes + 1);
    for (i = 0; i < sizeof variants / sizeof *variants; i++)
        good = outputs(way, &d, variants[i], scratch, bytes) && good;
    snprintf(name, sizeof name, "%s%s %lld->%lld/%lld, %lldx%lldx%lldx%lld",
             way->name, layout == CR_LAST ? ", channels last:" : ":",
             (long long)s->ci, (long long)s->co, (long long)s->group,
             (long long)s->n, (long long)s->in[0], (long long)s->in[1],
             (long long)s->in[2]);
    ok(good, "%s: forward and input, with all that may follow", name);
    good = weights(way, &d, false, scratch, bytes);
    ok(weights(way, &d, true, scratch, bytes) && good, "%s: weight", name);
    free(scratch);
    one = all_of(way, &d, 1);
    more = all_of(way, &d, 3);
    same = memcmp(one, more, (size_t)(d.nx + d.ny + d.nw) * sizeof *one) == 0;
    ok(same, "%s: same bytes with 3 threads", name);
    free(one);
    free(more);
    data_free(&d);
}

static void sums(enum cr_layout layout)
{
    enum {
        N = 3,
        C = 5,
        S = 19
    };
    cr_real *dy = numbers(N * C * S), db[C];
    bool good = true;
    int n, c, s;

    for (c = 0; c < C; c++)
        db[c] = (cr_real)(c + 1);
    cr_conv_bias(N, C, S, layout, dy, (cr_real)-0.5, true, db);
    for (c = 0; c < C; c++) {
        double sum = 0;

        for (n = 0; n < N; n++)
            for (s = 0; s < S; s++)
                sum += (double)dy[layout == CR_LAST ? (n * S + s) * C + c
                                                    : (n * C + c) * S + s];
        good = good && fabs((double)db[c] - (c + 1 - sum / 2)) < 100 * EPS;
    }
    ok(good, "sums by channel%s", layout == CR_LAST ? ", channels last" : "");
    free(dy);
}

int main(void)
{
    size_t i, k;

    cr_par_start(1);
    for (k = 0; k < sizeof ways / sizeof *ways; k++) {
        test_begin("%s: all shapes, and what may follow", ways[k].name);
        for (i = 0; i < sizeof shapes / sizeof *shapes; i++)
            check(&ways[k], &shapes[i], CR_PLAIN);
        test_begin("%s, channels last: all shapes, and what may follow",
                   ways[k].name);
        for (i = 0; i < sizeof shapes / sizeof *shapes; i++)
            check(&ways[k], &shapes[i], CR_LAST);
    }
    test_end();
    sums(CR_PLAIN);
    sums(CR_LAST);
    cr_par_stop();
    return done();
}

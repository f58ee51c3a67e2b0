/* Sums and sweeps per channel and per row, and reductions over dimensions,
 * with random settings, against plain loops in double; random numbers in
 * blocks against one by one. */
#include "kernels.h"
#include "kernels/channel.h"
#include "kernels/row_stats.h"
#include "kernels/tensor_iter.h"
#include "num/low_precision.h"
#include "num/rng.h"

#include <string.h>

/* A number of an output, of n terms whose sizes add up to `size`. */
static bool near_sum(const char *what, int64_t at, double got, double want,
                     int64_t n, double size)
{
    return number_near(what, at, got, want,
                       EPS * ((double)n + 8) * (size + 1e-3));
}

/* ---- per channel ---- */

static struct cr_channels draw_channels(void)
{
    struct cr_channels ch;

    do
        ch = (struct cr_channels){ .n = draw(1, 40),
                                   .c = draw_size(1, 600),
                                   .s = draw_one_in(4) ? 1 : draw_size(1, 2600),
                                   .last = draw_one_in(2) };
    while (ch.n * ch.c * ch.s > (draw_one_in(9) ? 200000 : 20000));
    setting_is("(%lld, %lld, %lld)%s", (long long)ch.n, (long long)ch.c,
               (long long)ch.s, ch.last ? " channels last" : "");
    return ch;
}

static int64_t channel_of(const struct cr_channels *ch, int64_t i)
{
    return ch->last ? i % ch->c : i / ch->s % ch->c;
}

static double *zeros(int64_t n)
{
    return calloc((size_t)n, sizeof(double));
}

static enum verdict channel_moments(void)
{
    struct cr_channels ch = draw_channels();
    int64_t n = ch.n * ch.c * ch.s, each = ch.n * ch.s, i;
    cr_real *x = numbers_new(n), offset = draw_one_in(3) ? 30 : 0;
    cr_real *room = numbers_undefined(cr_channel_thread_scratch(&ch));
    double *mean = fence_new((size_t)ch.c * sizeof *mean);
    double *variance = fence_new((size_t)ch.c * sizeof *mean);
    double *m = zeros(ch.c), *v = zeros(ch.c);
    bool good = true;

    for (i = 0; i < n; i++)
        x[i] += offset;
    for (i = 0; i < n; i++)
        m[channel_of(&ch, i)] += (double)x[i] / (double)each;
    for (i = 0; i < n; i++) {
        double d = (double)x[i] - m[channel_of(&ch, i)];

        v[channel_of(&ch, i)] += d * d / (double)each;
    }
    cr_channel_moments(&ch, x, room, mean, variance);
    for (i = 0; i < ch.c && good; i++)
        good = number_near("mean", i, mean[i], m[i],
                           300 * EPS * (fabs((double)offset) + 1)) &&
               number_near("variance", i, variance[i], v[i],
                           300 * EPS * (fabs((double)offset) + 1));
    free(m);
    free(v);
    return good ? RIGHT : WRONG;
}

/* An activation, y = v / (1 + v v), and its gradients, by v or by y. */
static double act(double v)
{
    return v / (1 + v * v);
}

static void act_map(const void *attr, int64_t n, const cr_real *x, cr_real *y)
{
    (void)attr;
    for (int64_t i = 0; i < n; i++)
        y[i] = (cr_real)act((double)x[i]);
}

static void act_grad(const void *attr, int64_t n, const cr_real *x,
                     const cr_real *y, const cr_real *dy, cr_real *d)
{
    (void)attr;
    (void)y;
    for (int64_t i = 0; i < n; i++)
        d[i] = dy[i] * (1 + x[i]);
}

static void act_grad_y(const void *attr, int64_t n, const cr_real *x,
                       const cr_real *y, const cr_real *dy, cr_real *d)
{
    act_grad(attr, n, y, x, dy, d);
}

/* dy where y > 0, or where there is no y; or what a gradient makes of it. */
static double masked(const struct cr_channel_mask *mask, const cr_real *dy,
                     const cr_real *y, int64_t i)
{
    if (mask->grad)
        return (double)dy[i] *
               (1 + (mask->map ? act((double)y[i]) : (double)y[i]));
    return y && y[i] <= 0 ? 0 : (double)dy[i];
}

/* A mask at random; returns the y that it stands for. */
static const cr_real *mask_new(const struct cr_channels *ch, const cr_real *x,
                               const cr_real *mean,
                               struct cr_channel_mask *mask)
{
    int64_t n = ch->n * ch->c * ch->s, i, kind = draw(1, 5);
    cr_real *y = kind > 1 ? numbers_new(n) : NULL;

    *mask = (struct cr_channel_mask){ 0 };
    if (kind == 2)
        mask->y = y;
    if (kind <= 2)
        return y;
    if (kind >= 4)
        mask->grad = kind == 4 ? act_grad : act_grad_y;
    if (kind == 5)
        mask->map = act_map;
    mask->scale = numbers_new(ch->c);
    mask->shift = numbers_new(ch->c);
    for (i = 0; i < n; i++) {
        int64_t c = channel_of(ch, i);

        y[i] = (x[i] - mean[c]) * mask->scale[c] + mask->shift[c];
    }
    return y;
}

static enum verdict channel_sums(void)
{
    struct cr_channels ch = draw_channels();
    int64_t n = ch.n * ch.c * ch.s, each = ch.n * ch.s, i;
    cr_real *x = numbers_new(n), *dy = numbers_new(n);
    cr_real *mean = numbers_new(ch.c);
    struct cr_channel_mask mask;
    const cr_real *y = mask_new(&ch, x, mean, &mask);
    cr_real *room = numbers_undefined(cr_channel_thread_scratch(&ch));
    double *sum = fence_new((size_t)ch.c * sizeof *sum);
    double *dot = fence_new((size_t)ch.c * sizeof *dot);
    double *s = zeros(ch.c), *q = zeros(ch.c);
    bool good = true;

    for (i = 0; i < n; i++) {
        int64_t c = channel_of(&ch, i);

        s[c] += masked(&mask, dy, y, i);
        q[c] += masked(&mask, dy, y, i) * ((double)x[i] - (double)mean[c]);
    }
    if (mask.grad && draw_one_in(2))
        mask.d = numbers_undefined(n);
    cr_channel_sums(&ch, x, mean, dy, &mask, room, sum, dot);
    for (i = 0; i < n && mask.d && good; i++)
        good =
            near_sum("d", i, (double)mask.d[i], masked(&mask, dy, y, i), 0, 4);
    for (i = 0; i < ch.c && good; i++)
        good = near_sum("sum", i, sum[i], s[i], 300, (double)each) &&
               near_sum("dot", i, dot[i], q[i], 300, 2 * (double)each);
    free(s);
    free(q);
    return good ? RIGHT : WRONG;
}

static enum verdict channel_map(void)
{
    struct cr_channels ch = draw_channels();
    int64_t n = ch.n * ch.c * ch.s, i;
    struct cr_channel_map m = { .x = numbers_new(n),
                                .more = draw_one_in(2) ? numbers_new(n) : NULL,
                                .mean = numbers_new(ch.c),
                                .scale = numbers_new(ch.c),
                                .shift = numbers_new(ch.c),
                                .relu = draw_one_in(2),
                                .y = numbers_undefined(n) };

    if (!m.relu && draw_one_in(2))
        m.map = act_map;
    cr_channel_map(&ch, &m, numbers_undefined(cr_channel_thread_scratch(&ch)));
    for (i = 0; i < n; i++) {
        int64_t c = channel_of(&ch, i);
        double y = ((double)m.x[i] - (double)m.mean[c]) * (double)m.scale[c] +
                   (double)m.shift[c] + (m.more ? (double)m.more[i] : 0);

        y = m.map ? act(y) : m.relu && y < 0 ? 0 : y;
        if (!near_sum("y", i, (double)m.y[i], y, 0, 4))
            return WRONG;
    }
    return RIGHT;
}

static enum verdict channel_backward(void)
{
    struct cr_channels ch = draw_channels();
    int64_t n = ch.n * ch.c * ch.s, i;
    cr_real *old = numbers_new(n), *old_more = numbers_new(n);
    int which = (int)draw(1, 3);
    struct cr_channel_backward b = { .x = numbers_new(n),
                                     .dy = numbers_new(n),
                                     .mean = numbers_new(ch.c),
                                     .scale = numbers_new(ch.c),
                                     .shift = numbers_new(ch.c),
                                     .slope = draw_one_in(2) ? numbers_new(ch.c)
                                                             : NULL,
                                     .add_dx = draw_one_in(2),
                                     .add_more = draw_one_in(2) };
    const cr_real *y = mask_new(&ch, b.x, b.mean, &b.mask);

    if (which & 1)
        b.dx = b.add_dx ? numbers_copy(old, n) : numbers_undefined(n);
    if (which & 2)
        b.dmore = b.add_more ? numbers_copy(old_more, n) : numbers_undefined(n);
    cr_channel_backward(&ch, &b,
                        numbers_undefined(cr_channel_thread_scratch(&ch)));
    for (i = 0; i < n; i++) {
        int64_t c = channel_of(&ch, i);
        double d = masked(&b.mask, b.dy, y, i), more = d;

        d *= (double)b.scale[c];
        if (b.slope)
            d -= (double)b.shift[c] +
                 ((double)b.x[i] - (double)b.mean[c]) * (double)b.slope[c];
        d += b.add_dx ? (double)old[i] : 0;
        more += b.add_more ? (double)old_more[i] : 0;
        if ((b.dx && !near_sum("dx", i, (double)b.dx[i], d, 0, 5)) ||
            (b.dmore && !near_sum("dmore", i, (double)b.dmore[i], more, 0, 2)))
            return WRONG;
    }
    return RIGHT;
}

/* Batch normalisation as a whole, where a kernel has it. */
static enum verdict channel_norm(void)
{
    struct cr_channels ch = draw_channels();
    int64_t n = ch.n * ch.c * ch.s, each = ch.n * ch.s, i;
    struct cr_channel_norm w = { .ch = ch,
                                 .batch = draw_one_in(2),
                                 .eps = draw_one_in(2) ? 1e-5 : 1e-2,
                                 .x = numbers_new(n),
                                 .gamma = numbers_new(ch.c),
                                 .beta = numbers_new(ch.c),
                                 .mean = numbers_new(ch.c),
                                 .variance = numbers_new(ch.c),
                                 .y = numbers_undefined(n),
                                 .dy = numbers_new(n),
                                 .dx = numbers_undefined(n),
                                 .dgamma = numbers_undefined(ch.c),
                                 .dbeta = numbers_undefined(ch.c) };
    double *m = zeros(ch.c), *v = zeros(ch.c), *s = zeros(ch.c);
    double *q = zeros(ch.c), room = 300 * EPS;
    bool good = cr_channel_norm_is_whole(&w);

    for (i = 0; i < n; i++)
        m[channel_of(&ch, i)] += (double)w.x[i] / (double)each;
    for (i = 0; i < n; i++) {
        double d = (double)w.x[i] - m[channel_of(&ch, i)];

        v[channel_of(&ch, i)] += d * d / (double)each;
    }
    for (i = 0; i < ch.c; i++) {
        w.variance[i] = w.variance[i] * w.variance[i] + (cr_real)0.1;
        m[i] = w.batch ? m[i] : (double)w.mean[i];
        v[i] = w.batch ? v[i] : (double)w.variance[i];
        if (w.batch)
            w.mean[i] = w.variance[i] = (cr_real)NAN;
    }
    if (good)
        cr_channel_norm(&w);
    for (i = 0; i < ch.c && good; i++)
        good = number_near("mean", i, (double)w.mean[i], m[i], room) &&
               number_near("variance", i, (double)w.variance[i], v[i], room);
    for (i = 0; i < n && good; i++) {
        int64_t c = channel_of(&ch, i);
        double r = 1 / sqrt(v[c] + w.eps), off = (double)w.x[i] - m[c];

        good = number_near("y", i, (double)w.y[i],
                           off * r * (double)w.gamma[c] + (double)w.beta[c],
                           room * (1 + r));
        s[c] += (double)w.dy[i];
        q[c] += (double)w.dy[i] * off * r;
    }
    for (i = 0; i < ch.c && good; i++)
        w.variance[i] = (cr_real)(v[i] + w.eps);
    if (good)
        cr_channel_norm_backward(&w);
    for (i = 0; i < ch.c && good; i++)
        good =
            near_sum("dbeta", i, (double)w.dbeta[i], s[i], 300, (double)each) &&
            near_sum("dgamma", i, (double)w.dgamma[i], q[i], 300,
                     4 * (double)each / sqrt(v[i] + w.eps));
    for (i = 0; i < n && good; i++) {
        int64_t c = channel_of(&ch, i);
        double r = 1 / sqrt(v[c] + w.eps);
        double h = ((double)w.x[i] - m[c]) * r, d = (double)w.dy[i];

        if (w.batch)
            d -= s[c] / (double)each + h * q[c] / (double)each;
        good = number_near("dx", i, (double)w.dx[i], d * r * (double)w.gamma[c],
                           room * r * (1 + r * r));
    }
    free(m);
    free(v);
    free(s);
    free(q);
    return good ? RIGHT : cr_channel_norm_is_whole(&w) ? WRONG : DECLINED;
}

/* ---- per row ---- */

static enum verdict rows(void)
{
    int64_t n = draw_one_in(3) ? draw(1, 3000) : draw_size(1, 150), i;
    cr_real *x = numbers_new(n), *dy = numbers_new(n);
    cr_real *weight = draw_one_in(2) ? numbers_new(n) : NULL;
    cr_real *shift = numbers_new(weight ? n : 1), *old = numbers_new(n);
    cr_real *y = numbers_undefined(n), *dot = numbers_copy(old, n);
    cr_real *sum = numbers_copy(x, n), mean = draw_real(), scale = draw_real();
    cr_real by = draw_real(), slope = draw_real(), less = draw_real();
    bool add = draw_one_in(2);
    cr_real *dx = add ? numbers_copy(old, n) : numbers_undefined(n);
    double m = 0, v = 0, s = 0, q = 0, got[4];

    setting_is("a row of %lld%s%s", (long long)n, weight ? ", weighed" : "",
               add ? ", added" : "");
    cr_row_kernel()->moments(n, x, &got[0], &got[1]);
    cr_row_kernel()->sums(n, x, mean, dy, weight, &got[2], &got[3]);
    cr_row_kernel()->affine(n, x, mean, scale, weight, shift, y);
    cr_row_kernel()->backward(n, x, mean, dy, weight, by, scale, less, slope,
                              add, dx);
    cr_row_kernel()->gather(n, x, mean, scale, dy, dot, sum);
    for (i = 0; i < n; i++)
        m += (double)x[i] / (double)n;
    for (i = 0; i < n; i++) {
        double xi = (double)x[i], w = weight ? (double)weight[i] : 1;
        double d = (double)dy[i] * w, off = xi - (double)mean;
        double yi = off * (double)scale * w + (double)shift[weight ? i : 0];
        double b = weight ? d : d * (double)by;

        v += (xi - m) * (xi - m) / (double)n;
        s += d;
        q += d * off;
        b = (double)scale * (b - (double)less - off * (double)slope) +
            (add ? (double)old[i] : 0);
        if (!near_sum("y", i, (double)y[i], yi, 0, 3) ||
            !near_sum("dx", i, (double)dx[i], b, 0, 5) ||
            !near_sum("dot", i, (double)dot[i],
                      (double)old[i] + (double)dy[i] * off * (double)scale, 0,
                      3) ||
            !near_sum("sum", i, (double)sum[i], xi + (double)dy[i], 0, 2))
            return WRONG;
    }
    return near_sum("mean", 0, got[0], m, 100, 1) &&
                   near_sum("variance", 0, got[1], v, 100, 1) &&
                   near_sum("sum of all", 0, got[2], s, 100, (double)n) &&
                   near_sum("dot of all", 0, got[3], q, 100, 2 * (double)n)
               ? RIGHT
               : WRONG;
}

/* The same bytes with one thread as before with three. */
static bool rows_norm_alone(const struct cr_row_kernel *k,
                            const struct cr_row_norm *three)
{
    int64_t n = three->rows * three->n;
    int64_t parts = cr_row_blocks(three->rows) * 2 * three->n;
    struct cr_row_norm one = *three;

    one.y = numbers_undefined(n);
    one.dx = numbers_undefined(n);
    one.part = numbers_undefined(parts);
    cr_thread_pool_start(1);
    k->norm(&one);
    k->norm_backward(&one);
    cr_thread_pool_start(3);
    return bytes_same("y", one.y, three->y, (size_t)n * sizeof *one.y) &&
           bytes_same("dx", one.dx, three->dx, (size_t)n * sizeof *one.y) &&
           bytes_same("part", one.part, three->part,
                      (size_t)parts * sizeof *one.y);
}

/* Layer normalisation as a whole, where a kernel has it. */
static enum verdict rows_norm(void)
{
    int64_t rows = draw_size(1, 300), n = draw_size(1, 200), i, row;
    int64_t blocks = cr_row_blocks(rows), all = rows * n;
    struct cr_row_norm w = { .rows = rows,
                             .n = n,
                             .eps = draw_one_in(2) ? 1e-5 : 1e-2,
                             .x = numbers_new(all),
                             .gamma = numbers_new(n),
                             .beta = numbers_new(n),
                             .mean = numbers_undefined(rows),
                             .r = numbers_undefined(rows),
                             .y = numbers_undefined(all),
                             .dy = numbers_new(all),
                             .dx = numbers_undefined(all),
                             .part = numbers_undefined(blocks * 2 * n) };
    const struct cr_row_kernel *k = cr_row_norm_kernel(&w);
    cr_real *dgamma = numbers_undefined(n), *dbeta = numbers_undefined(n);
    double *s = zeros(n), *q = zeros(n);
    bool good = true;

    setting_is("%lld rows of %lld", (long long)rows, (long long)n);
    if (k->norm) {
        k->norm(&w);
        k->norm_backward(&w);
        cr_row_reduce(blocks, 2 * n, n, w.part, false, dgamma);
        cr_row_reduce(blocks, 2 * n, n, w.part + n, false, dbeta);
        good = !draw_one_in(5) || rows_norm_alone(k, &w);
    }
    for (row = 0; row < rows && good && k->norm; row++) {
        const cr_real *x = w.x + row * n, *dy = w.dy + row * n;
        double m = 0, v = 0, r, sum = 0, dot = 0, room;

        for (i = 0; i < n; i++)
            m += (double)x[i] / (double)n;
        for (i = 0; i < n; i++)
            v += ((double)x[i] - m) * ((double)x[i] - m) / (double)n;
        r = 1 / sqrt(v + w.eps);
        room = 100 * EPS * (1 + r);
        good = number_near("mean", row, (double)w.mean[row], m, 100 * EPS) &&
               number_near("r", row, (double)w.r[row], r, room * r * r);
        for (i = 0; i < n && good; i++) {
            double h = ((double)x[i] - m) * r;
            double d = (double)dy[i] * (double)w.gamma[i];

            sum += d / (double)n;
            dot += d * h / (double)n;
            s[i] += (double)dy[i];
            q[i] += (double)dy[i] * h;
            good =
                number_near("y", i, (double)w.y[row * n + i],
                            h * (double)w.gamma[i] + (double)w.beta[i], room);
        }
        for (i = 0; i < n && good; i++) {
            double h = ((double)x[i] - m) * r;
            double d = (double)dy[i] * (double)w.gamma[i] - sum - h * dot;

            good = number_near("dx", i, (double)w.dx[row * n + i], d * r,
                               room * r * (1 + r));
        }
    }
    for (i = 0; i < n && good && k->norm; i++)
        good = near_sum("dbeta", i, (double)dbeta[i], s[i], 50, (double)rows) &&
               near_sum("dgamma", i, (double)dgamma[i], q[i], 300,
                        2 * (double)rows);
    free(s);
    free(q);
    return !good ? WRONG : k->norm ? RIGHT : DECLINED;
}

static enum verdict rows_collected(void)
{
    int64_t blocks = draw(1, 40), n = draw_size(1, 400), b, j;
    int64_t stride = n + draw(0, 3);
    bool add = draw_one_in(2);
    cr_real *part = numbers_new((blocks - 1) * stride + n);
    cr_real *old = numbers_new(n);
    cr_real *to = add ? numbers_copy(old, n) : numbers_undefined(n);

    setting_is("%lld blocks of %lld", (long long)blocks, (long long)n);
    cr_row_reduce(blocks, stride, n, part, add, to);
    for (j = 0; j < n; j++) {
        double sum = add ? (double)old[j] : 0;

        for (b = 0; b < blocks; b++)
            sum += (double)part[b * stride + j];
        if (!near_sum("to", j, (double)to[j], sum, 0, fabs(sum)))
            return WRONG;
    }
    return RIGHT;
}

/* ---- over dimensions ---- */

struct folded {
    const cr_real *x;
    double *to;
};

static const cr_real *folded_source(void *ctx, int64_t n, const int64_t *off,
                                    const int64_t *inc, cr_real *room)
{
    const struct folded *f = ctx;

    (void)n, (void)inc, (void)room;
    return f->x + off[0];
}

static void folded_sink(void *ctx, int64_t at, int64_t n, const double *sum)
{
    struct folded *f = ctx;

    memcpy(f->to + at, sum, (size_t)n * sizeof *sum);
}

/* Over any dimensions of up to five, as sum, largest or smallest. */
static enum verdict reductions(void)
{
    static const struct cr_reducer *const folds[] = { &cr_reducer_sum,
                                                      &cr_reducer_max,
                                                      &cr_reducer_min };
    static const char *const names[] = { "sum", "max", "min" };
    int rank = (int)draw(1, 5), which = (int)draw(0, 2), i;
    int64_t dim[5], step[5], count = 1, results = 1, k, r;
    bool nans = which > 0 && draw_one_in(5), good = true;
    struct cr_tensor_iter walk;
    struct folded f;
    cr_real *x;
    double *want, *size;
    struct cr_reduce job;

    do {
        count = results = 1;
        for (i = 0; i < rank; i++) {
            dim[i] = draw_one_in(4) ? draw(1, 1200) : draw(1, 20);
            count *= dim[i];
        }
    } while (count > (draw_one_in(9) ? 300000 : 20000));
    for (i = rank - 1; i >= 0; i--) {
        step[i] = draw_one_in(2) ? results : 0;
        results *= step[i] ? dim[i] : 1;
    }
    setting_is("%s of %lld %lld %lld %lld %lld, kept %d %d %d %d %d",
               names[which], (long long)dim[0], (long long)dim[rank > 1],
               (long long)dim[rank > 2 ? 2 : 0],
               (long long)dim[rank > 3 ? 3 : 0],
               (long long)dim[rank > 4 ? 4 : 0], step[0] > 0,
               rank > 1 && step[1] > 0, rank > 2 && step[2] > 0,
               rank > 3 && step[3] > 0, rank > 4 && step[4] > 0);
    x = numbers_new(count);
    for (k = 0; k < count && nans; k += draw(1, 3000))
        x[k] = (cr_real)NAN;
    f = (struct folded){ x, fence_new((size_t)results * sizeof(double)) };
    want = zeros(results);
    size = zeros(results);
    for (r = 0; r < results; r++)
        want[r] = folds[which]->start;
    for (k = 0; k < count; k++) {
        int64_t rest = k, v = 0;
        double y = (double)x[k];

        for (i = rank - 1; i >= 0; i--) {
            v += rest % dim[i] * step[i];
            rest /= dim[i];
        }
        size[v] += fabs(y);
        if (which == 0)
            want[v] += y;
        else if (isnan(y) || (which == 1 ? y > want[v] : y < want[v]))
            want[v] = y;
    }
    cr_tensor_iter_init(&walk, rank, dim);
    cr_tensor_iter_add_strides(&walk, step);
    cr_tensor_iter_merge(&walk);
    job = (struct cr_reduce){ .walk = &walk,
                              .kept = 1,
                              .reducer = folds[which],
                              .cost = 0.5,
                              .ctx = &f,
                              .load = folded_source,
                              .store = folded_sink };
    cr_reduce(&job);
    for (r = 0; r < results && good; r++)
        good = number_near(names[which], r, f.to[r], want[r],
                           which == 0 ? EPS * 1200 * (size[r] + 1) : 0);
    free(want);
    free(size);
    return good ? RIGHT : WRONG;
}

/* ---- random numbers, and rounding to 16 bits ---- */

static enum verdict random_blocks(void)
{
    struct cr_rng rng =
        cr_rng(draw_word(), CR_STREAM_TEST, draw_word(), draw_word());
    int64_t n = draw(0, 200), i;
    uint64_t first = draw_one_in(3)   ? draw_word()
                     : draw_one_in(2) ? 0xffffffffu - (uint64_t)draw(0, 90)
                                      : (uint64_t)draw(0, 5000);
    uint32_t *out = fence_new((size_t)n * 4 * sizeof *out), want[4];

    setting_is("%lld blocks from %llu", (long long)n,
               (unsigned long long)first);
    cr_rng_blocks(&rng, first, n, out);
    for (i = 0; i < n; i++) {
        cr_rng_block(&rng, first + (uint64_t)i, want);
        if (!bytes_same("block", out + 4 * i, want, sizeof want))
            return WRONG;
    }
    return RIGHT;
}

/* x rounded to a number of `bits` bits, its last no lower than 2^least. */
static double rounded(double x, int bits, int least, double beyond)
{
    int exponent;

    if (isnan(x) || isinf(x))
        return x;
    frexp(x, &exponent);
    exponent = exponent - bits < least ? least : exponent - bits;
    x = ldexp(rint(ldexp(x, -exponent)), exponent);
    return fabs(x) >= beyond ? copysign(INFINITY, x) : x;
}

static enum verdict halves(void)
{
    int64_t n = draw(0, 60), i;
    bool bf16 = draw_one_in(2);
    cr_real *x = numbers_new(n), *y = numbers_undefined(n);

    setting_is("%lld numbers to %s", (long long)n,
               bf16 ? "bfloat16" : "float16");
    for (i = 0; i < n; i++) {
        uint32_t bits = (uint32_t)draw_word();
        float some;

        /* any float, of any size; or one of float16's */
        memcpy(&some, &bits, sizeof some);
        x[i] = draw_one_in(2) ? (cr_real)some
                              : x[i] * (cr_real)ldexp(1, (int)draw(-26, 17));
    }
    cr_round_to_type(bf16 ? CR_BF16 : CR_F16, n, x, y);
    for (i = 0; i < n; i++) {
        double from = (double)(float)x[i];

        if (!number_near("y", i, (double)y[i],
                         bf16 ? rounded(from, 8, -133, 0x1p128)
                              : rounded(from, 11, -24, 65520),
                         0))
            return WRONG;
    }
    return RIGHT;
}

int main(void)
{
    int i;

    kernels_begin(250);
    cr_thread_pool_start(3);
    kernel_compare("rows collected", CLONES, rows_collected);
    kernel_compare("reductions", CLONES, reductions);
    for (i = 0; i < OWN; i++) {
        kernel_compare("moments of channels", i, channel_moments);
        kernel_compare("sums of channels", i, channel_sums);
        kernel_compare("sweep over channels", i, channel_map);
        kernel_compare("gradient of a sweep", i, channel_backward);
        kernel_compare("rows", i, rows);
        kernel_compare("blocks of random numbers", i, random_blocks);
        kernel_compare("rounding to 16 bits", i, halves);
    }
    if (sizeof(cr_real) == sizeof(float)) {
        kernel_compare("batch normalisation as a whole", ONEDNN, channel_norm);
        kernel_compare("layer normalisation as a whole", ONEDNN, rows_norm);
    }
    cr_thread_pool_stop();
    return done();
}

/* Pooling with random settings against plain loops in double, on each
 * implementation; maxima over windows of 2 by 2 have kernels of their own. */
#include "kernels/pool.h"

#include "kernels.h"
#include "num/low_precision.h"

/* ---- settings ---- */

#define AVX512 2 /* of implementations */

static bool pairs_only; /* windows of 2 by 2 side by side */

static struct cr_window draw_window(bool single, bool means)
{
    struct cr_window w = { 1, 1, 1, 1, 1, 0, 0, false };
    int64_t room;

    if (single)
        return w;
    w.in = draw_size(1, 70);
    if (pairs_only) {
        w.out = draw(1, 40);
        w.in = 2 * w.out + draw(0, 1);
        w.kernel = w.stride = 2;
        return w;
    }
    if (draw_one_in(5)) {
        w.adaptive = true;
        w.out = draw(1, draw_one_in(3) ? w.in + 3 : (w.in + 1) / 2);
        w.kernel = (w.in + w.out - 1) / w.out;
        return w;
    }
    w.kernel = draw_one_in(9) ? draw(1, 20) : draw(1, 4);
    w.stride = draw_one_in(2) ? w.kernel : draw(1, 4);
    w.dilation = !means && draw_one_in(4) ? draw(1, 3) : 1;
    w.pad_before = draw(0, w.kernel - 1);
    w.pad_after = draw(0, w.kernel - 1);
    room = w.in + w.pad_before + w.pad_after - w.dilation * (w.kernel - 1) - 1;
    if (room < 0) {
        w.pad_before = w.pad_after = w.dilation * (w.kernel - 1);
        room = w.in + w.pad_before - 1;
    }
    /* rounded down, or up as far as windows begin inside */
    w.out = room / w.stride + 1;
    if (draw_one_in(2) && w.out * w.stride < w.in + w.pad_before)
        w.out++;
    return w;
}

static int64_t in_of(const struct cr_pool *p)
{
    return p->w[0].in * p->w[1].in * p->w[2].in;
}

static int64_t out_of(const struct cr_pool *p)
{
    return p->w[0].out * p->w[1].out * p->w[2].out;
}

static struct cr_pool draw_pool(bool means)
{
    struct cr_pool p;

    do {
        bool deep = !pairs_only && draw_one_in(6), flat = draw_one_in(3);

        p = (struct cr_pool){ .n = draw(1, 5), .c = draw_size(1, 150) };
        p.last = draw_one_in(2);
        p.w[0] = draw_window(!deep, means);
        p.w[1] = draw_window(flat && !deep && !pairs_only, means);
        p.w[2] = draw_window(false, means);
        p.count_pad = means && draw_one_in(2);
        p.divisor = means && draw_one_in(5) ? draw(1, 9) : 0;
    } while (p.n * p.c * in_of(&p) > (draw_one_in(9) ? 300000 : 40000) ||
             p.n * p.c * out_of(&p) * cr_pool_volume(&p) > 1000000);
    setting_is("(%lld, %lld, %lld %lld %lld)%s to %lld %lld %lld, kernel %lld "
               "%lld %lld, stride %lld %lld %lld, dilation %lld %lld %lld, "
               "before %lld %lld %lld, adaptive %d %d %d%s, divisor %lld",
               (long long)p.n, (long long)p.c, (long long)p.w[0].in,
               (long long)p.w[1].in, (long long)p.w[2].in,
               p.last ? " channels last" : "", (long long)p.w[0].out,
               (long long)p.w[1].out, (long long)p.w[2].out,
               (long long)p.w[0].kernel, (long long)p.w[1].kernel,
               (long long)p.w[2].kernel, (long long)p.w[0].stride,
               (long long)p.w[1].stride, (long long)p.w[2].stride,
               (long long)p.w[0].dilation, (long long)p.w[1].dilation,
               (long long)p.w[2].dilation, (long long)p.w[0].pad_before,
               (long long)p.w[1].pad_before, (long long)p.w[2].pad_before,
               p.w[0].adaptive, p.w[1].adaptive, p.w[2].adaptive,
               p.count_pad ? ", counts padding" : "", (long long)p.divisor);
    return p;
}

/* ---- plain loops ---- */

/* Element s of channel c of sample n, of `all` in a channel. */
static int64_t at(const struct cr_pool *p, int64_t n, int64_t c, int64_t s,
                  int64_t all)
{
    return p->last ? (n * all + s) * p->c + c : (n * p->c + c) * all + s;
}

/* The inputs of window `o` of a channel, in order, and how many positions
 * count for a mean. */
struct window {
    int64_t of[4096];
    int count;
    double counts;
};

static void window_open(const struct cr_pool *p, int64_t o, struct window *v)
{
    int64_t os[3] = { o / (p->w[1].out * p->w[2].out),
                      o / p->w[2].out % p->w[1].out, o % p->w[2].out };
    int64_t from[3], to[3], k[3];
    int i;

    v->count = 0;
    v->counts = 1;
    for (i = 0; i < 3; i++) {
        const struct cr_window *w = &p->w[i];
        int64_t first = os[i] * w->stride - w->pad_before;
        int64_t end = first + w->kernel, limit = w->in + w->pad_after;

        from[i] = w->adaptive ? os[i] * w->in / w->out : first;
        to[i] = w->adaptive ? ((os[i] + 1) * w->in + w->out - 1) / w->out
                            : first + w->kernel * w->dilation;
        if (w->adaptive)
            v->counts *= (double)(to[i] - from[i]);
        else
            v->counts *= (double)((end < limit ? end : limit) - first);
    }
    for (k[0] = from[0]; k[0] < to[0]; k[0] += p->w[0].dilation)
        for (k[1] = from[1]; k[1] < to[1]; k[1] += p->w[1].dilation)
            for (k[2] = from[2]; k[2] < to[2]; k[2] += p->w[2].dilation) {
                bool inside = true;

                for (i = 0; i < 3; i++)
                    inside = inside && k[i] >= 0 && k[i] < p->w[i].in;
                if (inside)
                    v->of[v->count++] =
                        (k[0] * p->w[1].in + k[1]) * p->w[2].in + k[2];
            }
    if (!p->count_pad)
        v->counts = v->count > 0 ? v->count : 1;
    if (p->divisor)
        v->counts = (double)p->divisor;
}

/* ---- comparing ---- */

/* A mask or NULL, some of its numbers 0, -0 or NaN. */
static cr_real *draw_mask(int64_t n)
{
    cr_real *mask = NULL;
    int64_t i;

    if (!draw_one_in(3))
        return NULL;
    mask = numbers_new(n);
    for (i = 0; i < n; i += 1 + draw(0, 5))
        mask[i] = draw_one_in(3)   ? (cr_real)NAN
                  : draw_one_in(2) ? 0
                                   : -(cr_real)0;
    return mask;
}

/* The library's row is compared where it accepts, and must do so often. */
static bool declines(bool max, const struct cr_pool *p)
{
    const char *name =
        max ? cr_pool_max_kernel_name(p) : cr_pool_mean_kernel_name(p);

    return strcmp(cr_blas(), "onednn") == 0 && !strstr(name, "onednn");
}

static enum verdict maxima(void)
{
    struct cr_pool p = draw_pool(false);
    int64_t in = in_of(&p), out = out_of(&p), nx = p.n * p.c * in;
    int64_t ny = p.n * p.c * out, n, c, o, i;
    bool add = draw_one_in(2), ties = draw_one_in(3), nans = draw_one_in(6);
    cr_real *x = numbers_new(nx), *y = numbers_undefined(ny);
    cr_real *dy = numbers_new(ny), *mask = draw_mask(ny);
    cr_real *old = numbers_new(nx);
    cr_real *dx = add ? numbers_copy(old, nx) : numbers_undefined(nx);
    void *index = fence_new((size_t)ny * cr_pool_index(&p));
    int32_t *places = fence_new((size_t)ny * sizeof *places);
    double *sum = calloc((size_t)nx, sizeof *sum);
    struct window v;
    bool good = true;

    if (declines(true, &p)) {
        free(sum);
        return DECLINED;
    }
    for (i = 0; i < nx && ties; i++)
        x[i] = (cr_real)(int)(3 * x[i]);
    for (i = 0; i < nx && nans; i += draw(1, 9))
        x[i] = draw_one_in(2) ? (cr_real)NAN : -(cr_real)INFINITY;
    cr_pool_max(&p, x, y, index);
    cr_pool_places(&p, index, places);
    cr_pool_max_backward(&p, dy, index, mask, add, dx);
    for (o = 0; o < out && good; o++) {
        window_open(&p, o, &v);
        for (n = 0; n < p.n && good; n++)
            for (c = 0; c < p.c && good; c++) {
                int64_t yi = at(&p, n, c, o, out), best = 0, xi;
                double most = -(double)INFINITY;

                for (i = 0; i < v.count && !isnan(most); i++) {
                    double value = (double)x[at(&p, n, c, v.of[i], in)];

                    if (i == 0 || isnan(value) || value > most)
                        most = value, best = v.of[i];
                }
                good = number_near("y", yi, (double)y[yi], most, 0);
                if (v.count == 0)
                    continue;
                good = good &&
                       number_near("place", yi, places[yi], (double)best, 0);
                xi = at(&p, n, c, best, in);
                if (!mask || !(mask[yi] <= 0))
                    sum[xi] += (double)dy[yi];
            }
    }
    for (i = 0; i < nx && good; i++)
        good = number_near("dx", i, (double)dx[i],
                           sum[i] + (add ? (double)old[i] : 0), 400 * EPS);
    free(sum);
    return good ? RIGHT : WRONG;
}

/* The two bytes of n numbers, which are rounded to them. */
static uint16_t *low_of(enum cr_type type, int64_t n, cr_real *x)
{
    uint16_t *low = fence_new((size_t)n * sizeof *low);

    cr_round_to_type(type, n, x, x);
    cr_narrow(type, n, x, low);
    return low;
}

/* Maxima in two bytes have the bytes of those in float32, narrowed. */
static enum verdict maxima_low(void)
{
    struct cr_pool p = draw_pool(false);
    enum cr_type type = draw_one_in(2) ? CR_F16 : CR_BF16;
    int64_t nx = p.n * p.c * in_of(&p), ny = p.n * p.c * out_of(&p), i;
    bool nans = draw_one_in(3), dy_low = draw_one_in(2);
    cr_real *x = numbers_new(nx), *y = numbers_undefined(ny);
    cr_real *dy = numbers_new(ny), *mask = draw_mask(ny);
    cr_real *dx = numbers_undefined(nx);
    uint8_t *index = fence_new((size_t)ny), *low_index = fence_new((size_t)ny);
    uint16_t *low_y = fence_new((size_t)ny * sizeof *low_y);
    uint16_t *low_dx = fence_new((size_t)nx * sizeof *low_dx);
    uint16_t *low_x, *low_dy, *low_mask;

    if (!cr_pool_max_has_low(&p))
        return DECLINED;
    for (i = 0; i < nx && nans; i += draw(1, 9))
        x[i] = draw_one_in(3)   ? (cr_real)NAN
               : draw_one_in(2) ? -(cr_real)INFINITY
                                : -(cr_real)0;
    for (i = 0; i < ny && mask && nans; i += draw(1, 9))
        mask[i] = -(cr_real)NAN;
    low_x = low_of(type, nx, x);
    low_mask = mask ? low_of(type, ny, mask) : NULL;
    low_dy = dy_low ? low_of(type, ny, dy) : NULL;
    cr_pool_max(&p, x, y, index);
    cr_pool_max_backward(&p, dy, index, mask, false, dx);
    cr_pool_max_low(&p, type, low_x, low_y, low_index);
    cr_pool_max_backward_low(&p, type, dy_low ? (void *)low_dy : (void *)dy,
                             dy_low, low_index, low_mask, low_dx);
    return bytes_same("y", low_y, low_of(type, ny, y),
                      (size_t)ny * sizeof *low_y) &&
                   bytes_same("index", low_index, index, (size_t)ny) &&
                   bytes_same("dx", low_dx, low_of(type, nx, dx),
                              (size_t)nx * sizeof *low_dx)
               ? RIGHT
               : WRONG;
}

static enum verdict means(void)
{
    struct cr_pool p = draw_pool(true);
    int64_t in = in_of(&p), out = out_of(&p), nx = p.n * p.c * in;
    int64_t ny = p.n * p.c * out, n, c, o, i;
    bool add = draw_one_in(2), good = true;
    cr_real *x = numbers_new(nx), *y = numbers_undefined(ny);
    cr_real *dy = numbers_new(ny), *old = numbers_new(nx);
    cr_real *dx = add ? numbers_copy(old, nx) : numbers_undefined(nx);
    double *sum = calloc((size_t)nx, sizeof *sum);
    double *size = calloc((size_t)nx, sizeof *size);
    struct window v;

    if (declines(false, &p)) {
        free(sum);
        free(size);
        return DECLINED;
    }
    cr_pool_mean(&p, x, y);
    cr_pool_mean_backward(&p, dy, add, dx);
    for (o = 0; o < out && good; o++) {
        window_open(&p, o, &v);
        for (n = 0; n < p.n && good; n++)
            for (c = 0; c < p.c && good; c++) {
                int64_t yi = at(&p, n, c, o, out);
                double mean = 0, most = 0, d = (double)dy[yi] / v.counts;

                for (i = 0; i < v.count; i++) {
                    int64_t xi = at(&p, n, c, v.of[i], in);

                    mean += (double)x[xi] / v.counts;
                    most += fabs((double)x[xi] / v.counts);
                    sum[xi] += d;
                    size[xi] += fabs(d);
                }
                good = number_near("y", yi, (double)y[yi], mean,
                                   EPS * (v.count + 3) * most);
            }
    }
    for (i = 0; i < nx && good; i++)
        good = number_near("dx", i, (double)dx[i],
                           sum[i] + (add ? (double)old[i] : 0),
                           EPS * 100 * (size[i] + 1));
    free(sum);
    free(size);
    return good ? RIGHT : WRONG;
}

/* Means and their gradients have the same bytes with one thread and three. */
static enum verdict threads(void)
{
    struct cr_pool p = draw_pool(true);
    int64_t nx = p.n * p.c * in_of(&p), ny = p.n * p.c * out_of(&p);
    cr_real *x = numbers_new(nx), *dy = numbers_new(ny);
    cr_real *one = numbers_undefined(nx + ny);
    cr_real *three = numbers_undefined(nx + ny);

    if (declines(false, &p))
        return DECLINED;
    cr_pool_mean(&p, x, three);
    cr_pool_mean_backward(&p, dy, false, three + ny);
    cr_thread_pool_start(1);
    cr_pool_mean(&p, x, one);
    cr_pool_mean_backward(&p, dy, false, one + ny);
    cr_thread_pool_start(3);
    return bytes_same("what three threads computed", three, one,
                      (size_t)(nx + ny) * sizeof *one)
               ? RIGHT
               : WRONG;
}

int main(void)
{
    int i;

    kernels_begin(250);
    cr_thread_pool_start(3);
    for (i = 0; i < ALL; i++) {
        if (i >= OWN && (i != ONEDNN || sizeof(cr_real) != sizeof(float)))
            continue;
        pairs_only = false;
        kernel_compare("means over windows", i, means);
        kernel_compare("means in threads", i, threads);
        kernel_compare("maxima over windows", i, maxima);
        pairs_only = true;
        kernel_compare("maxima over 2 by 2", i, maxima);
    }
    pairs_only = true;
    if (sizeof(cr_real) == sizeof(float))
        kernel_compare("maxima in two bytes", AVX512, maxima_low);
    cr_kernel_prefer("pool_portable");
    kernel_compare("maxima over 2 by 2 as over any window", 0, maxima);
    cr_kernel_prefer(NULL);
    cr_thread_pool_stop();
    return done();
}

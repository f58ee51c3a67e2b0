/* Convolutions with random settings: each way to compute them (planar, direct,
 * by products), on each implementation, against the plain loop in double; and
 * the same bytes for any number of threads. */
#include "kernels/conv.h"

#include "kernels.h"
#include "kernels/gemm.h"
#include "num/low_precision.h"

static const struct cr_conv_kernel chosen = {
    .head = { .name = "convolution" },
    .takes = CR_END_MAP,
    .scratch = cr_conv_scratch,
    .thread_scratch = cr_conv_thread_scratch,
    .packed = cr_conv_packed,
    .pack = cr_conv_pack,
    .forward = cr_conv_forward,
    .input = cr_conv_input,
    .weight = cr_conv_weight,
};

static bool accepts(const struct cr_conv_kernel *k, const struct cr_conv *c)
{
    return !k->head.accepts || k->head.accepts(c);
}

enum {
    PLANAR,
    DIRECT,
    WINOGRAD,
    GROUPED,
    POINTWISE,
    DEPTH,
    PAIRS,
    TILES,
    PRODUCTS,
    LIBRARY,
    CHOSEN
};

static const struct cr_conv_kernel *const ways[] = {
    [PLANAR] = &cr_conv_nchw,
    [DIRECT] = &cr_conv_nhwc,
    [WINOGRAD] = &cr_conv_winograd,
    [GROUPED] = &cr_conv_grouped,
    [POINTWISE] = &cr_conv_pointwise,
    [DEPTH] = &cr_conv_depth,
    [PAIRS] = &cr_conv_nhwc_bf16,
    [TILES] = &cr_conv_nhwc_amx,
    [PRODUCTS] = &cr_conv_im2col,
#ifdef CR_DOUBLE
    [LIBRARY] = &chosen,
#else
    [LIBRARY] = &cr_conv_onednn,
#endif
    [CHOSEN] = &chosen,
};

static int way;
static double least; /* multiply-adds of a setting */
static bool many;    /* large images */
static bool roomy;   /* a thread took more room than planned */

/* ---- settings ---- */

static int64_t size3(const int64_t d[3])
{
    return d[0] * d[1] * d[2];
}

static double macs(const struct cr_conv *c)
{
    return (double)(c->n * size3(c->out) * c->co) *
           (double)(c->ci / c->group * size3(c->kernel));
}

/* One axis. Padding may be larger than the kernel, and there may be fewer
 * outputs than fit: both occur in transposed convolutions. */
static void draw_axis(struct cr_conv *c, int axis, bool single)
{
    int64_t reach, after, most;

    c->in[axis] = c->kernel[axis] = c->stride[axis] = c->dilation[axis] = 1;
    c->out[axis] = 1;
    c->pad_before[axis] = 0;
    if (single)
        return;
    if (axis == 0 && draw_one_in(3)) {
        /* flat but for the padding, which may be all that there is to see */
        c->pad_before[axis] = draw(0, 2);
        return;
    }
    c->in[axis] = many ? draw(40, 70) : draw_size(1, 60);
    c->kernel[axis] = draw_one_in(6) ? draw(1, 11) : draw(1, 4);
    if (way != PLANAR && draw_one_in(3))
        c->stride[axis] = draw(1, 4);
    if (draw_one_in(4))
        c->dilation[axis] = draw(1, 4);
    if (way == WINOGRAD) {
        c->kernel[axis] = 3;
        c->stride[axis] = c->dilation[axis] = 1;
    }
    reach = c->dilation[axis] * (c->kernel[axis] - 1);
    c->pad_before[axis] = draw(0, draw_one_in(3) ? reach + 4 : reach);
    after = draw(0, draw_one_in(3) ? reach + 4 : reach);
    most = c->in[axis] + c->pad_before[axis] + after - reach - 1;
    most = most < 0 ? 0 : most / c->stride[axis] + 1;
    c->out[axis] = draw_one_in(8) && most > 1 ? most - 1 : most;
}

static bool wants_last(void)
{
    return way == DIRECT || way == WINOGRAD || way == GROUPED ||
           way == POINTWISE || way == DEPTH || way == PAIRS || way == TILES ||
           way == LIBRARY;
}

/* Low precision, of which some may lie in two bytes per number. */
static void draw_low(struct cr_conv *c)
{
    c->low = way == PAIRS || way == TILES       ? CR_BF16
             : way < PRODUCTS && draw_one_in(2) ? CR_REAL
             : draw_one_in(2)                   ? CR_F16
                                                : CR_BF16;
    c->bf16 = c->low == CR_BF16;
    c->in_pairs = ways[way]->in_pairs;
    c->in_tiles = ways[way]->in_tiles;
    c->x_low = ways[way]->low_x && c->low != CR_REAL && draw_one_in(2);
    c->dy_low = ways[way]->low_dy && c->low != CR_REAL && draw_one_in(2);
}

/* Many large images of few channels: sums over them are taken in pieces. */
static struct cr_conv draw_many(void)
{
    struct cr_conv c = { .n = way == DEPTH ? draw(2, 3) : draw(9, 20),
                         .group = 1 };

    c.ci = draw(1, 2);
    c.co = draw(1, 2);
    if (way == GROUPED)
        c.ci = c.co = c.group = 2;
    c.x = c.y = wants_last() ? CR_CHANNELS_LAST : CR_ROW_MAJOR;
    draw_low(&c);
    draw_axis(&c, 0, way != DEPTH);
    many = true;
    draw_axis(&c, 1, false);
    draw_axis(&c, 2, false);
    many = false;
    return c;
}

/* Rows so long that a thread keeps them of few of their channels. */
static struct cr_conv draw_long(void)
{
    struct cr_conv c = { .n = draw(1, 2),
                         .group = draw(50, 70),
                         .x = CR_CHANNELS_LAST,
                         .y = CR_CHANNELS_LAST };
    int64_t outs = draw(1, 2);

    c.ci = c.group * (3 - outs);
    c.co = c.group * outs;
    draw_low(&c);
    draw_axis(&c, 0, true);
    draw_axis(&c, 1, true);
    draw_axis(&c, 2, true);
    c.in[1] = c.kernel[1] = draw(1, 2);
    c.in[2] = draw(10000, 12000);
    c.kernel[2] = draw(1, 3);
    c.stride[2] = draw(1, 2);
    c.pad_before[2] = draw(0, 2);
    c.out[2] = (c.in[2] + c.pad_before[2] - c.kernel[2]) / c.stride[2] + 1;
    return c;
}

/* A kernel of one place, in up to three dimensions; or of some planes, which is
 * a flat one of one place. */
static struct cr_conv draw_pointwise(void)
{
    struct cr_conv c;
    int i;

    do {
        c = (struct cr_conv){ .n = draw(1, 9),
                              .group = 1,
                              .ci = draw_size(1, 300),
                              .co = draw_size(1, 300),
                              .x = CR_CHANNELS_LAST,
                              .y = CR_CHANNELS_LAST };
        draw_low(&c);
        for (i = 0; i < 3; i++) {
            c.in[i] = c.out[i] = draw(1, i == 0 ? 2 : 12);
            c.kernel[i] = c.stride[i] = c.dilation[i] = 1;
        }
        if (way != POINTWISE && draw_one_in(2)) {
            c.kernel[0] = draw(2, 3);
            c.in[0] += c.kernel[0] - 1;
        }
    } while (macs(&c) < least || macs(&c) > 1e6);
    return c;
}

static struct cr_conv draw_conv(void)
{
    /* a unit of Winograd's sums has 64 channels */
    int64_t most = way == PLANAR ? 16 : way == WINOGRAD ? 150 : 40;
    struct cr_conv c;

    if (way == GROUPED && draw_one_in(40))
        return draw_long();
    if (way == POINTWISE || (way == CHOSEN && draw_one_in(4)))
        return draw_pointwise();
    if (draw_one_in(25)) {
        do
            c = draw_many();
        while (macs(&c) < 300000 || macs(&c) > 1500000 ||
               !accepts(ways[way], &c));
        return c;
    }
    do {
        bool deep = way == DEPTH || (way >= PRODUCTS && draw_one_in(6));
        bool flat = way != WINOGRAD && draw_one_in(4);

        c = (struct cr_conv){ .n = draw_one_in(3) ? draw(1, 20) : draw(1, 3) };
        c.group = way != WINOGRAD && draw_one_in(3) ? draw(1, 7) : 1;
        c.ci = c.group * draw_size(1, c.group > 1 ? 9 : most);
        c.co = c.group * draw_size(1, c.group > 1 ? 9 : most);
        if (way == GROUPED || (way == CHOSEN && draw_one_in(6))) {
            bool depthwise = draw_one_in(2);

            c.group = depthwise ? draw(2, 70) : draw(2, 20);
            if (draw_one_in(4)) /* a multiple of the lanes */
                c.group = 8 * draw(1, 4);
            c.ci = c.group * (depthwise ? 1 : draw_size(1, 16));
            c.co = c.group * (depthwise ? 1 : draw_size(1, 16));
        }
        c.x = c.y = wants_last() || (way != PLANAR && draw_one_in(2))
                        ? CR_CHANNELS_LAST
                        : CR_ROW_MAJOR;
        draw_low(&c);
        draw_axis(&c, 0, !deep);
        draw_axis(&c, 1, flat);
        draw_axis(&c, 2, false);
    } while (size3(c.out) == 0 || macs(&c) < least ||
             macs(&c) > (least > 0 || draw_one_in(8) ? 1e6 : 1e5) *
                            (way == WINOGRAD ? 6 : 1) ||
             !accepts(ways[way], &c));
    return c;
}

/* ---- the plain loop ---- */

static int64_t at(enum cr_layout layout, const int64_t dim[3], int64_t channels,
                  int64_t n, int64_t c, int64_t s)
{
    return layout == CR_CHANNELS_LAST ? (n * size3(dim) + s) * channels + c
                                      : (n * channels + c) * size3(dim) + s;
}

/* Output q and tap k see input *s of their plane; false: outside. */
static bool sees(const struct cr_conv *c, int64_t q, int64_t k, int64_t *s)
{
    const int64_t *out = c->out, *kernel = c->kernel;
    int64_t qs[3] = { q / (out[1] * out[2]), q / out[2] % out[1], q % out[2] };
    int64_t ks[3] = { k / (kernel[1] * kernel[2]), k / kernel[2] % kernel[1],
                      k % kernel[2] };
    int i;

    *s = 0;
    for (i = 0; i < 3; i++) {
        int64_t p =
            qs[i] * c->stride[i] + ks[i] * c->dilation[i] - c->pad_before[i];

        if (p < 0 || p >= c->in[i])
            return false;
        *s = *s * c->in[i] + p;
    }
    return true;
}

enum of {
    OF_Y,
    OF_DX,
    OF_DW
};

/* Adds up a[ai] b[bi] and its size at [to] for each product that there is. */
static void naive(const struct cr_conv *c, enum of of, const cr_real *a,
                  const cr_real *b, double *sum, double *size)
{
    int64_t cig = c->ci / c->group, cog = c->co / c->group, taps, n, o, q, k, i;
    int64_t s;

    taps = size3(c->kernel);
    for (q = 0; q < size3(c->out); q++)
        for (k = 0; k < taps; k++) {
            if (!sees(c, q, k, &s))
                continue;
            for (n = 0; n < c->n; n++)
                for (o = 0; o < c->co; o++) {
                    int64_t yi = at(c->y, c->out, c->co, n, o, q);
                    int64_t xi = at(c->x, c->in, c->ci, n, o / cog * cig, s);
                    int64_t wi = o * cig * taps + k;
                    int64_t step = c->x == CR_CHANNELS_LAST ? 1 : size3(c->in);

                    for (i = 0; i < cig; i++, xi += step, wi += taps) {
                        int64_t to = of == OF_Y ? yi : of == OF_DX ? xi : wi;
                        double p = of == OF_Y ? (double)a[xi] * (double)b[wi]
                                   : of == OF_DX
                                       ? (double)a[yi] * (double)b[wi]
                                       : (double)a[xi] * (double)b[yi];

                        sum[to] += p;
                        size[to] += fabs(p);
                    }
                }
        }
}

/* ---- comparing ---- */

struct result {
    const char *what;
    const cr_real *got, *old;
    int64_t n, terms, channels, space;
    enum cr_layout layout;
    double alpha;
    enum cr_type low; /* CR_REAL, or it was stored as such in two bytes */
};

/* What is stored in two bytes, of a type, is half a unit of it off. */
static double half_unit(enum cr_type low, double x)
{
    return low == CR_REAL ? 0
                          : ldexp(fabs(x), low == CR_F16 ? -11 : -8) +
                                ldexp(1, low == CR_F16 ? -25 : -134);
}

static bool near_naive(const struct result *r, const double *sum,
                       const double *size, const struct cr_epilogue *end)
{
    int64_t i;

    for (i = 0; i < r->n; i++) {
        int64_t c = r->layout == CR_CHANNELS_LAST ? i % r->channels
                                                  : i / r->space % r->channels;
        double want = r->alpha * sum[i] + (r->old ? (double)r->old[i] : 0) +
                      (end->bias ? (double)end->bias[c] : 0);
        double room = EPS * (size[i] + 3) * ((double)r->terms + 4);

        if (end->act == CR_ACT_RELU && want < 0)
            want = 0;
        if (end->mask && end->mask[i] <= 0)
            want = 0;
        if (end->map) {
            const cr_real *to = end->map_to ? end->map_to : r->got;
            double mapped = end->map_is == CR_ACT_RELU6
                                ? fmin(fmax(want, 0), 6)
                                : 1 - want / 2;

            if (!number_near("map", i, (double)to[i], mapped, room + EPS))
                return false;
            if (to == r->got)
                continue;
        }
        room += half_unit(r->low, want);
        if (!number_near(r->what, i, (double)r->got[i], want, room))
            return false;
    }
    return true;
}

static void one_less_half(const void *attr, int64_t n, const cr_real *x,
                          cr_real *y)
{
    int64_t i;

    (void)attr;
    for (i = 0; i < n; i++)
        y[i] = 1 - x[i] / 2;
}

static void relu6(const void *attr, int64_t n, const cr_real *x, cr_real *y)
{
    int64_t i;

    (void)attr;
    for (i = 0; i < n; i++)
        y[i] = x[i] < 0 ? 0 : x[i] > 6 ? 6 : x[i];
}

/* What may follow, drawn: bias, addition from elsewhere or in place, ReLU and
 * mask, or a map, of which what it gets may be kept. */
static struct cr_epilogue draw_end(int64_t channels, int64_t n, cr_real *to,
                                   const cr_real **old)
{
    struct cr_epilogue e = { 0 };
    int64_t how = draw(0, 3);

    *old = how > 1 ? numbers_new(n) : NULL;
    if (how == 3)
        memcpy(to, *old, (size_t)n * sizeof *to);
    e.add = how == 3 ? to : *old;
    e.bias = draw_one_in(2) ? numbers_new(channels) : NULL;
    if ((ways[way]->takes & CR_END_MAP) && draw_one_in(2)) {
        e.map_is = draw_one_in(2) ? CR_ACT_RELU6 : CR_ACT_NONE;
        e.map = e.map_is == CR_ACT_RELU6 ? relu6 : one_less_half;
        e.keeps = draw_one_in(2);
        e.map_to = e.keeps ? numbers_undefined(n)
                   : draw_one_in(2) ? to : NULL;
        return e;
    }
    e.act = draw_one_in(2) ? CR_ACT_RELU : CR_ACT_NONE;
    e.mask = draw_one_in(3) ? numbers_new(n) : NULL;
    return e;
}

static void tell(const struct cr_conv *c, const char *what)
{
    setting_is("%s of (%lld, %lld, %lld %lld %lld)%s, %lld channels out, group "
               "%lld, kernel %lld %lld %lld, stride %lld %lld %lld, dilation "
               "%lld %lld %lld, before %lld %lld %lld, out %lld %lld %lld, "
               "threads %d, %s, type %d%s%s",
               what, (long long)c->n, (long long)c->ci, (long long)c->in[0],
               (long long)c->in[1], (long long)c->in[2],
               c->x == CR_CHANNELS_LAST ? " channels last" : "",
               (long long)c->co, (long long)c->group, (long long)c->kernel[0],
               (long long)c->kernel[1], (long long)c->kernel[2],
               (long long)c->stride[0], (long long)c->stride[1],
               (long long)c->stride[2], (long long)c->dilation[0],
               (long long)c->dilation[1], (long long)c->dilation[2],
               (long long)c->pad_before[0], (long long)c->pad_before[1],
               (long long)c->pad_before[2], (long long)c->out[0],
               (long long)c->out[1], (long long)c->out[2], cr_thread_count(),
               cr_isa_name(cr_isa()), (int)c->low, c->x_low ? ", x low" : "",
               c->dy_low ? ", dy low" : "");
}

/* Bytes that hold whatever a planner would have left there. */
static void *scratch_new(const struct cr_conv *c)
{
    size_t bytes = ways[way]->scratch(c);

    return memset(fence_new(bytes), 0xff, bytes);
}

/* n numbers of the type of c, as floats; and as they lie in memory. */
static cr_real *numbers_of(const struct cr_conv *c, int64_t n)
{
    cr_real *x = numbers_new(n);

    if (c->low != CR_REAL)
        cr_round_to_type(c->low, n, x, x);
    return x;
}

static const cr_real *lying(const struct cr_conv *c, bool low, const cr_real *x,
                            int64_t n)
{
    uint16_t *bits;

    if (!low)
        return x;
    bits = fence_new((size_t)n * sizeof *bits);
    cr_narrow(c->low, n, x, bits);
    return (const cr_real *)(const void *)bits;
}

/* w as the kernel packs it; NULL: it does not. */
static cr_real *packed_new(const struct cr_conv *c, const cr_real *w)
{
    size_t bytes = ways[way]->packed ? ways[way]->packed(c) : 0;
    cr_real *to = bytes > 0 ? fence_new(bytes) : NULL;

    if (to)
        ways[way]->pack(c, w, to);
    return to;
}

/* The result and its mask in two bytes, unless it is added to. */
static void draw_low_to(struct cr_conv *c, const struct cr_epilogue *e,
                        const cr_real *to)
{
    bool may = ways[way]->low_to && c->low != CR_REAL && e->add != to &&
               !e->map;

    c->to_low = may && draw_one_in(2);
    c->mask_low = may && draw_one_in(2);
}

static enum verdict outputs(enum of of)
{
    struct cr_conv c = draw_conv();
    int64_t nx = c.n * c.ci * size3(c.in), ny = c.n * c.co * size3(c.out);
    int64_t nw = c.co * (c.ci / c.group) * size3(c.kernel);
    bool y = of == OF_Y;
    const cr_real *source;
    cr_real *from, *w, *to;
    double *sum, *size;
    struct cr_epilogue e, end;
    struct result r = { .what = y ? "y" : "dx" };
    enum verdict v;
    void *into;

    tell(&c, y ? "y" : "dx");
    if (!y && ways[way]->low_x)
        c.dy_low = c.x_low; /* the source, here */
    from = numbers_of(&c, y ? nx : ny);
    w = numbers_of(&c, nw);
    source = lying(&c, y ? c.x_low : c.dy_low, from, y ? nx : ny);
    r.n = y ? ny : nx;
    r.channels = y ? c.co : c.ci;
    r.terms = (y ? c.ci : c.co) / c.group * size3(c.kernel);
    r.space = size3(y ? c.out : c.in);
    r.layout = c.x;
    r.alpha = 1;
    to = numbers_undefined(r.n);
    e = draw_end(r.channels, r.n, to, &r.old);
    r.got = to;
    draw_low_to(&c, &e, to);
    end = e;
    if (c.mask_low && e.mask) {
        cr_round_to_type(c.low, r.n, e.mask, (cr_real *)e.mask);
        end.mask = lying(&c, true, e.mask, r.n);
    }
    into = c.to_low ? fence_new((size_t)r.n * sizeof(uint16_t)) : to;
    if (y)
        ways[way]->forward(&c, source, w,
                           draw_one_in(2) ? packed_new(&c, w) : NULL, &end,
                           into, scratch_new(&c));
    else
        ways[way]->input(&c, source, w, &end, into, scratch_new(&c));
    if (c.to_low)
        cr_widen(c.low, r.n, into, to);
    r.low = c.to_low ? c.low : CR_REAL;
    sum = calloc((size_t)r.n, sizeof *sum);
    size = calloc((size_t)r.n, sizeof *size);
    naive(&c, of, from, w, sum, size);
    v = near_naive(&r, sum, size, &e) ? RIGHT : WRONG;
    free(sum);
    free(size);
    return v;
}

static enum verdict forward(void)
{
    return outputs(OF_Y);
}

static enum verdict input(void)
{
    return outputs(OF_DX);
}

static enum verdict weight(void)
{
    struct cr_conv c = draw_conv();
    struct cr_epilogue none = { 0 };
    struct result r = { .what = "dw" };
    int64_t nx, ny;
    bool add = draw_one_in(2);
    cr_real alpha = draw_one_in(2) ? 1 : draw_real(), *x, *dy, *dw;
    double *sum, *size;
    enum verdict v;

    tell(&c, "dw");
    nx = c.n * c.ci * size3(c.in);
    ny = c.n * c.co * size3(c.out);
    x = numbers_of(&c, nx);
    dy = numbers_of(&c, ny);
    r.n = c.co * (c.ci / c.group) * size3(c.kernel);
    r.terms = c.n * size3(c.out);
    r.channels = r.space = 1;
    r.alpha = (double)alpha;
    r.old = add ? numbers_new(r.n) : NULL;
    dw = add ? numbers_copy(r.old, r.n) : numbers_undefined(r.n);
    r.got = dw;
    ways[way]->weight(&c, lying(&c, c.x_low, x, nx),
                      lying(&c, c.dy_low, dy, ny), alpha, add, dw,
                      scratch_new(&c));
    sum = calloc((size_t)r.n, sizeof *sum);
    size = calloc((size_t)r.n, sizeof *size);
    naive(&c, OF_DW, x, dy, sum, size);
    v = near_naive(&r, sum, size, &none) ? RIGHT : WRONG;
    free(sum);
    free(size);
    return v;
}

/* db = alpha (sums by channel) + (add ? db : 0) */
static enum verdict bias(void)
{
    int64_t n = draw(1, 9), c = draw_size(1, 70), s = draw_size(1, 300), i, j;
    enum cr_layout layout = draw_one_in(2) ? CR_CHANNELS_LAST : CR_ROW_MAJOR;
    bool add = draw_one_in(2);
    cr_real alpha = draw_real(), *dy, *old, *db;

    setting_is("db of (%lld, %lld, %lld)%s", (long long)n, (long long)c,
               (long long)s,
               layout == CR_CHANNELS_LAST ? " channels last" : "");
    dy = numbers_new(n * c * s);
    old = numbers_new(c);
    db = add ? numbers_copy(old, c) : numbers_undefined(c);
    cr_conv_bias(n, c, s, layout, dy, alpha, add, db);
    for (i = 0; i < c; i++) {
        double sum = 0, size = 0;

        for (j = 0; j < n * s; j++) {
            double d = (double)
                dy[layout == CR_CHANNELS_LAST ? j * c + i
                                              : (j / s * c + i) * s + j % s];

            sum += d;
            size += fabs(d);
        }
        if (!number_near("db", i, (double)db[i],
                         (double)alpha * sum + (add ? (double)old[i] : 0),
                         EPS * (size + 1) * (double)(n * s + 4)))
            return WRONG;
    }
    return RIGHT;
}

/* All three with so many threads, one after the other in `to`. */
static void all_of(const struct cr_conv *c, int threads, const cr_real *x,
                   const cr_real *w, const cr_real *dy, cr_real *to)
{
    struct cr_epilogue none = { 0 };
    cr_real *dx = to + c->n * c->co * size3(c->out);
    void *scratch;

    cr_thread_pool_start(threads);
    scratch = scratch_new(c);
    ways[way]->forward(c, x, w, NULL, &none, to, scratch);
    ways[way]->input(c, dy, w, &none, dx, scratch);
    ways[way]->weight(c, x, dy, 1, false, dx + c->n * c->ci * size3(c->in),
                      scratch);
    if (cr_thread_scratch_size() > ways[way]->thread_scratch(c) + 63) {
        printf("# takes %zu bytes of room, plans %zu\n# in %s\n",
               cr_thread_scratch_size(), ways[way]->thread_scratch(c), setting);
        roomy = true;
    }
}

static enum verdict threads(void)
{
    struct cr_conv c = (least = 150000, draw_conv()); /* less is not split */
    int64_t nx = c.n * c.ci * size3(c.in), ny = c.n * c.co * size3(c.out);
    int64_t nw = c.co * (c.ci / c.group) * size3(c.kernel), n = nx + ny + nw;
    int many_threads = (int)draw(2, 9);
    const cr_real *x, *dy;
    cr_real *w, *one, *more;

    least = 0;
    tell(&c, "threads");
    x = lying(&c, c.x_low, numbers_of(&c, nx), nx);
    w = numbers_new(nw);
    dy = lying(&c, c.dy_low, numbers_of(&c, ny), ny);
    one = numbers_undefined(n);
    more = numbers_undefined(n);
    all_of(&c, 1, x, w, dy, one);
    all_of(&c, many_threads, x, w, dy, more);
    return bytes_same("all with more threads", more, one,
                      (size_t)n * sizeof *one) &&
                   !roomy
               ? RIGHT
               : WRONG;
}

/* Rows that are kept widened are no more than an image has, however far the
 * kernel reaches. */
static void wide_kernel(void)
{
    struct cr_conv c = { .n = 4,
                         .group = 16,
                         .ci = 16,
                         .co = 16,
                         .in = { 1, 32, 32 },
                         .out = { 1, 32, 32 },
                         .kernel = { 1, 3, 3 },
                         .stride = { 1, 1, 1 },
                         .dilation = { 1, 1000000, 1000000 },
                         .pad_before = { 0, 1000000, 1000000 },
                         .x = CR_CHANNELS_LAST,
                         .y = CR_CHANNELS_LAST,
                         .low = CR_F16,
                         .x_low = true,
                         .dy_low = true };

    if (accepts(&cr_conv_grouped, &c))
        ok(cr_conv_grouped.thread_scratch(&c) < 1 << 20,
           "conv_grouped: a thread keeps no more rows than an image has");
    c.group = 1;
    for (int last = 0; last < 2; last++)
        for (int low = 0; low < 2; low++) {
            c.x = c.y = last ? CR_CHANNELS_LAST : CR_ROW_MAJOR;
            c.x_low = c.dy_low = false;
            c.low = low ? CR_BF16 : CR_REAL;
            c.bf16 = low;
            ok(cr_conv_thread_scratch(&c) < 64 << 20 &&
                   cr_conv_scratch(&c) < 64 << 20,
               "%s: no copy has the zeros that a far dilation sees",
               cr_conv_kernel_name(&c));
        }
}

/* Of long rows a thread keeps few channels. */
static void long_rows(void)
{
    struct cr_conv c = { .n = 1,
                         .group = 512,
                         .ci = 512,
                         .co = 512,
                         .in = { 1, 1, 160000 },
                         .out = { 1, 1, 160000 },
                         .kernel = { 1, 1, 5 },
                         .stride = { 1, 1, 1 },
                         .dilation = { 1, 1, 1 },
                         .pad_before = { 0, 0, 2 },
                         .x = CR_CHANNELS_LAST,
                         .y = CR_CHANNELS_LAST,
                         .low = CR_REAL };

    if (accepts(&cr_conv_grouped, &c))
        ok(cr_conv_grouped.thread_scratch(&c) < 32 << 20,
           "conv_grouped: a thread keeps few channels of long rows");
}

static void compare(int w, int implementation)
{
    char name[100];

    way = w;
    cr_thread_pool_start(w == CHOSEN ? 3 : 1);
    snprintf(name, sizeof name, "%s: output", ways[w]->head.name);
    kernel_compare(name, implementation, forward);
    snprintf(name, sizeof name, "%s: gradient of the input",
             ways[w]->head.name);
    kernel_compare(name, implementation, input);
    snprintf(name, sizeof name, "%s: gradient of the weight",
             ways[w]->head.name);
    kernel_compare(name, implementation, weight);
}

int main(void)
{
    int i;

    kernels_begin(120);
    for (i = 0; i < ALL; i++) {
        bool vectors = sizeof(cr_real) == sizeof(float) && i > 0 && i < OWN;

        if (vectors) {
            compare(PLANAR, i);
            compare(DIRECT, i);
            compare(WINOGRAD, i);
            compare(GROUPED, i);
            compare(POINTWISE, i);
            compare(DEPTH, i);
            if (implementation_take(i) && cr_gemm_bf16_available())
                compare(PAIRS, i);
            if (implementation_take(i) && cr_gemm_bf16_available() &&
                cr_gemm_bf16_has_amx())
                compare(TILES, i);
        }
        if (sizeof(cr_real) == sizeof(float) && i == ONEDNN)
            compare(LIBRARY, i);
        compare(PRODUCTS, i);
        compare(CHOSEN, i);
        if (vectors) {
            way = WINOGRAD;
            kernel_compare("conv_winograd, in threads", i, threads);
            way = POINTWISE;
            kernel_compare("conv_pointwise, in threads", i, threads);
            way = GROUPED;
            kernel_compare("conv_grouped, in threads", i, threads);
            way = DEPTH;
            kernel_compare("conv_depth, in threads", i, threads);
        }
        if (i < OWN || i == ONEDNN) {
            way = i == ONEDNN ? LIBRARY : CHOSEN;
            kernel_compare("convolution, in threads", i, threads);
        }
        kernel_compare("gradient of the bias", i, bias);
    }
    cr_thread_pool_stop();
    for (i = 0; i < OWN; i++)
        if (implementation_take(i)) {
            wide_kernel();
            long_rows();
        }
    return done();
}

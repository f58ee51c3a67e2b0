#include "kernels/pool.h"

#include "base/compiler.h"
#include "kernels/max_pool_2x2.h"
#include "kernels/parallel_for.h"

#include <string.h>

#define TILE 16 /* channels, or windows of a row, at a time */
#define PART 64 /* channels that a task of backward has */

/* One dimension of a window: positions from + k dilation, low <= k < high. */
struct span {
    int64_t from, low, high;
};

static struct span span_of(const struct cr_window *w, int64_t o)
{
    struct span s = { 0 };

    if (w->adaptive) {
        s.from = o * w->in / w->out;
        s.high = ((o + 1) * w->in + w->out - 1) / w->out - s.from;
        return s;
    }
    s.from = o * w->stride - w->pad_before;
    if (w->dilation == 1) {
        s.low = s.from < 0 ? -s.from : 0;
        s.high = w->in - s.from < w->kernel ? w->in - s.from : w->kernel;
        return s;
    }
    s.low = s.from < 0 ? (-s.from + w->dilation - 1) / w->dilation : 0;
    s.high = (w->in - s.from + w->dilation - 1) / w->dilation;
    if (s.high > w->kernel)
        s.high = w->kernel;
    return s;
}

/* Elements that a mean counts along one dimension. */
static int64_t counted(const struct cr_window *w, bool pad, int64_t o)
{
    struct span s = span_of(w, o);
    int64_t end = s.from + w->kernel, limit = w->in + w->pad_after;

    if (!pad || w->adaptive)
        return s.high > s.low ? s.high - s.low : 1;
    return (end < limit ? end : limit) - s.from;
}

static int64_t widest(const struct cr_window *w)
{
    return w->adaptive ? (w->in + w->out - 1) / w->out + 1 : w->kernel;
}

int64_t cr_pool_volume(const struct cr_pool *p)
{
    return widest(&p->w[0]) * widest(&p->w[1]) * widest(&p->w[2]);
}

size_t cr_pool_index(const struct cr_pool *p)
{
    int64_t volume = cr_pool_volume(p);

    return volume <= 256 ? 1 : volume <= 65536 ? 2 : 4;
}

/* Whether each input is in exactly one window. */
static bool tiled(const struct cr_pool *p)
{
    int i;

    for (i = 0; i < 3; i++) {
        const struct cr_window *w = &p->w[i];

        if (w->adaptive ? w->in % w->out != 0
                        : w->stride != w->kernel || w->dilation != 1 ||
                              w->pad_before != 0 || w->out * w->stride != w->in)
            return false;
    }
    return true;
}

CR_INLINE void put_index(void *to, size_t size, int64_t at, int n,
                         const int32_t *index)
{
    int k;

    if (size == 1) {
        uint8_t *bytes = (uint8_t *)to + at;

        CR_SIMD
        for (k = 0; k < n; k++)
            bytes[k] = (uint8_t)index[k];
    } else if (size == 2)
        for (k = 0; k < n; k++)
            ((uint16_t *)to)[at + k] = (uint16_t)index[k];
    else
        for (k = 0; k < n; k++)
            ((int32_t *)to)[at + k] = index[k];
}

CR_INLINE int32_t get_index(const void *from, size_t size, int64_t at)
{
    return size == 1   ? ((const uint8_t *)from)[at]
           : size == 2 ? ((const uint16_t *)from)[at]
                       : ((const int32_t *)from)[at];
}

/* ---- what all loops see ---- */

struct run {
    const struct cr_pool *p;
    const cr_real *x, *mask;
    cr_real *y; /* in backward dy stands in x, dx in y */
    void *put;  /* indices; NULL: means */
    const void *get;
    int32_t *places;
    size_t size; /* of an index */
    bool add, tiled;
    int64_t even;    /* what all means divide by; 0: it differs */
    int64_t kw, khw; /* strides of an index in its window */
    int64_t in, out; /* elements of a plane */
    int64_t parts;   /* tasks per sample in backward */
};

/* What every mean divides by, or 0. */
static int64_t even_divisor(const struct cr_pool *p)
{
    int64_t n = 1;
    int i;

    if (p->divisor > 0)
        return p->divisor;
    for (i = 0; i < 3; i++) {
        const struct cr_window *w = &p->w[i];

        if (w->adaptive
                ? w->in % w->out != 0
                : w->pad_before != 0 || (w->out - 1) * w->stride +
                                                (w->kernel - 1) * w->dilation >=
                                            w->in)
            return 0;
        n *= w->adaptive ? w->in / w->out : w->kernel;
    }
    return n;
}

static struct run run_of(const struct cr_pool *p, const cr_real *x, cr_real *y)
{
    const struct cr_window *w = p->w;
    struct run r = { .p = p, .x = x, .y = y, .size = cr_pool_index(p) };

    r.kw = widest(&w[2]);
    r.khw = widest(&w[1]) * r.kw;
    r.in = w[0].in * w[1].in * w[2].in;
    r.out = w[0].out * w[1].out * w[2].out;
    r.tiled = tiled(p);
    r.even = even_divisor(p);
    return r;
}

/* The window of an output: its spans, element 0, and steps between elements. */
struct place {
    struct span s[3];
    int64_t at, step[3];
};

static struct place place_of(const struct cr_pool *p, int64_t od, int64_t oh,
                             int64_t ow)
{
    const struct cr_window *w = p->w;
    struct place a = {
        { span_of(&w[0], od), span_of(&w[1], oh), span_of(&w[2], ow) }, 0, { 0 }
    };

    a.at = (a.s[0].from * w[1].in + a.s[1].from) * w[2].in + a.s[2].from;
    a.step[2] = w[2].adaptive ? 1 : w[2].dilation;
    a.step[1] = (w[1].adaptive ? 1 : w[1].dilation) * w[2].in;
    a.step[0] = (w[0].adaptive ? 1 : w[0].dilation) * w[1].in * w[2].in;
    return a;
}

static cr_real divisor_of(const struct run *r, int64_t od, int64_t oh,
                          int64_t ow)
{
    const struct cr_pool *p = r->p;

    if (r->even > 0)
        return (cr_real)r->even;
    return (cr_real)(counted(&p->w[0], p->count_pad, od) *
                     counted(&p->w[1], p->count_pad, oh) *
                     counted(&p->w[2], p->count_pad, ow));
}

/* For each element of window a: its place in the plane and its index. */
#define EACH_ELEMENT(r, a, i, index)                                          \
    for (int64_t kd_ = (a).s[0].low; kd_ < (a).s[0].high; kd_++)              \
        for (int64_t kh_ = (a).s[1].low; kh_ < (a).s[1].high; kh_++)          \
            for (int64_t kw_ = (a).s[2].low,                                  \
                         i = (a).at + kd_ * (a).step[0] + kh_ * (a).step[1] + \
                             kw_ * (a).step[2],                               \
                         index = kd_ * (r)->khw + kh_ * (r)->kw + kw_;        \
                 kw_ < (a).s[2].high; kw_++, i += (a).step[2], index++)

/* ---- channels last: vectors of channels ---- */

/* `n` channels of one window; x and y are those of the first channel. */
CR_INLINE void last_max(const struct run *r, const struct place *a, int n,
                        const cr_real *x, cr_real *y, int64_t y_at)
{
    cr_real best[TILE];
    int32_t at[TILE];
    int64_t c = r->p->c;
    bool first = true;
    int k;

    for (k = 0; k < n; k++) {
        best[k] = -(cr_real)INFINITY;
        at[k] = 0;
    }
    EACH_ELEMENT(r, *a, i, index)
    {
        const cr_real *v = x + i * c;

        if (first) {
            CR_SIMD
            for (k = 0; k < n; k++) {
                best[k] = v[k];
                at[k] = (int32_t)index;
            }
            first = false;
        } else {
            CR_SIMD
            for (k = 0; k < n; k++) {
                bool more = (!(v[k] <= best[k])) & (best[k] == best[k]);

                at[k] = more ? (int32_t)index : at[k];
                best[k] = more ? v[k] : best[k];
            }
        }
    }
    for (k = 0; k < n; k++)
        y[k] = best[k];
    put_index(r->put, r->size, y_at, n, at);
}

CR_INLINE void last_mean(const struct run *r, const struct place *a, int n,
                         cr_real divisor, const cr_real *x, cr_real *y)
{
    cr_real sum[TILE];
    int64_t c = r->p->c;
    int k;

    for (k = 0; k < n; k++)
        sum[k] = 0;
    EACH_ELEMENT(r, *a, i, index)
    {
        const cr_real *v = x + i * c;

        (void)index;
        CR_SIMD
        for (k = 0; k < n; k++)
            sum[k] += v[k];
    }
    CR_SIMD
    for (k = 0; k < n; k++)
        y[k] = sum[k] / divisor;
}

CR_INLINE void last_window(const struct run *r, const struct place *a, int n,
                           cr_real divisor, const cr_real *x, cr_real *y,
                           int64_t y_at)
{
    if (r->put)
        last_max(r, a, n, x, y, y_at);
    else
        last_mean(r, a, n, divisor, x, y);
}

/* One row of windows of one sample. Numbers of channels that a tile does not
 * divide are worth loops of their own where they are known to be common. */
CR_CLONES
static void last_row(const struct run *r, int64_t n, int64_t od, int64_t oh)
{
    const struct cr_pool *p = r->p;
    const cr_real *x = r->x + n * r->in * p->c;
    int64_t c, ow, o = (od * p->w[1].out + oh) * p->w[2].out;

    for (ow = 0; ow < p->w[2].out; ow++) {
        struct place a = place_of(p, od, oh, ow);
        cr_real divisor = r->put ? 1 : divisor_of(r, od, oh, ow);
        int64_t y_at = (n * r->out + o + ow) * p->c;

        for (c = 0; c + TILE <= p->c; c += TILE)
            last_window(r, &a, TILE, divisor, x + c, r->y + y_at + c, y_at + c);
        if (p->c - c == 6)
            last_window(r, &a, 6, divisor, x + c, r->y + y_at + c, y_at + c);
        else if (c < p->c)
            last_window(r, &a, (int)(p->c - c), divisor, x + c, r->y + y_at + c,
                        y_at + c);
    }
}

/* Channels c to c + n of the windows of a sample give back what they got. */
CR_CLONES
static void last_give(const struct run *r, const struct place *a, int n,
                      cr_real divisor, int64_t y_at, cr_real *dx,
                      const cr_real *mask)
{
    const cr_real *dy = r->x + y_at;
    int64_t c = r->p->c;
    int32_t at[PART];
    cr_real d[PART];
    bool store = r->tiled && !r->add;
    int k;

    for (k = 0; k < n && r->get; k++)
        at[k] = get_index(r->get, r->size, y_at + k);
    CR_SIMD
    for (k = 0; k < n; k++)
        d[k] = dy[k] / divisor;
    EACH_ELEMENT(r, *a, i, index)
    {
        cr_real *to = dx + i * c;
        const cr_real *m = mask ? mask + i * c : NULL;
        int32_t here = (int32_t)index;

        if (!r->get && store) {
            CR_SIMD
            for (k = 0; k < n; k++)
                to[k] = d[k];
        } else if (!r->get) {
            CR_SIMD
            for (k = 0; k < n; k++)
                to[k] += d[k];
        } else if (m) {
            CR_SIMD
            for (k = 0; k < n; k++) {
                cr_real v = at[k] == here ? d[k] : 0;

                v = m[k] <= 0 ? 0 : v;
                to[k] = store ? v : to[k] + v;
            }
        } else if (store) {
            CR_SIMD
            for (k = 0; k < n; k++)
                to[k] = at[k] == here ? d[k] : 0;
        } else {
            CR_SIMD
            for (k = 0; k < n; k++)
                to[k] += at[k] == here ? d[k] : 0;
        }
    }
}

static void last_backward(const struct run *r, int64_t n, int64_t c)
{
    const struct cr_pool *p = r->p;
    int m = (int)(p->c - c < PART ? p->c - c : PART);
    cr_real *dx = r->y + n * r->in * p->c + c;
    const cr_real *mask = r->mask ? r->mask + n * r->in * p->c + c : NULL;
    int64_t i, od, oh, ow, y_at = n * r->out * p->c + c;

    for (i = 0; i < r->in && !r->add && !r->tiled; i++)
        memset(dx + i * p->c, 0, (size_t)m * sizeof *dx);
    for (od = 0; od < p->w[0].out; od++)
        for (oh = 0; oh < p->w[1].out; oh++)
            for (ow = 0; ow < p->w[2].out; ow++, y_at += p->c) {
                struct place a = place_of(p, od, oh, ow);
                cr_real divisor = r->get ? 1 : divisor_of(r, od, oh, ow);

                last_give(r, &a, m, divisor, y_at, dx, mask);
            }
}

/* ---- plain: a plane at a time ---- */

static bool pairs(const struct cr_pool *p)
{
    const struct cr_window *w = p->w;

    return w[0].out == 1 && widest(&w[0]) == 1 && !w[1].adaptive &&
           !w[2].adaptive && w[1].kernel == 2 && w[2].kernel == 2 &&
           w[1].stride == 2 && w[2].stride == 2 && w[1].dilation == 1 &&
           w[2].dilation == 1 && w[1].pad_before == 0 && w[2].pad_before == 0 &&
           w[1].out * 2 <= w[1].in && w[2].out * 2 <= w[2].in;
}

/* A row of at most TILE windows: each element of all of them in turn. Element
 * kw is inside the windows from low to high. */
CR_INLINE void row_max(int64_t n, int64_t stride, const cr_real *v,
                       int32_t index, cr_real *best, int32_t *at)
{
    int64_t k;

    CR_SIMD
    for (k = 0; k < n; k++) {
        cr_real here = v[k * stride];
        bool more = (at[k] < 0) | ((!(here <= best[k])) & (best[k] == best[k]));

        at[k] = more ? index : at[k];
        best[k] = more ? here : best[k];
    }
}

CR_INLINE void row_sum(int64_t n, int64_t stride, const cr_real *v,
                       cr_real *sum)
{
    int64_t k;

    CR_SIMD
    for (k = 0; k < n; k++)
        sum[k] += v[k * stride];
}

/* Windows ow to ow + n of a row whose other spans are a's. */
CR_CLONES
static void plain_stretch(const struct run *r, const struct place *a,
                          int64_t ow, int64_t n, const cr_real *x,
                          cr_real *best, int32_t *at)
{
    const struct cr_window *w = &r->p->w[2];
    int64_t kd, kh, kw;

    for (kd = a->s[0].low; kd < a->s[0].high; kd++)
        for (kh = a->s[1].low; kh < a->s[1].high; kh++)
            for (kw = 0; kw < w->kernel; kw++) {
                /* position of element kw in window ow + i: from + i stride */
                int64_t from =
                    ow * w->stride - w->pad_before + kw * w->dilation;
                int64_t low =
                    from < 0 ? (-from + w->stride - 1) / w->stride : 0;
                int64_t high =
                    from >= w->in ? 0 : (w->in - 1 - from) / w->stride + 1;
                const cr_real *v = x + a->at + kd * a->step[0] +
                                   kh * a->step[1] + from + low * w->stride;
                int32_t index = (int32_t)(kd * r->khw + kh * r->kw + kw);

                high = high > n ? n : high;
                if (low >= high)
                    continue;
                if (r->put && w->stride == 1)
                    row_max(high - low, 1, v, index, best + low, at + low);
                else if (r->put)
                    row_max(high - low, w->stride, v, index, best + low,
                            at + low);
                else if (w->stride == 1)
                    row_sum(high - low, 1, v, best + low);
                else
                    row_sum(high - low, w->stride, v, best + low);
            }
}

static void plain_windows(const struct run *r, int64_t plane, int64_t od,
                          int64_t oh)
{
    const struct cr_pool *p = r->p;
    const struct cr_window *w = &p->w[2];
    const cr_real *x = r->x + plane * r->in;
    struct place a = place_of(p, od, oh, 0);
    cr_real best[4 * TILE];
    int32_t at[4 * TILE];
    int64_t ow, n, k, o = plane * r->out + (od * p->w[1].out + oh) * w->out;

    a.at -= a.s[2].from; /* of column 0 */
    for (ow = 0; ow < w->out; ow += n) {
        n = w->out - ow < 4 * TILE ? w->out - ow : 4 * TILE;
        for (k = 0; k < n; k++) {
            best[k] = r->put ? -(cr_real)INFINITY : 0;
            at[k] = -1;
        }
        plain_stretch(r, &a, ow, n, x, best, at);
        if (r->put) {
            for (k = 0; k < n; k++)
                at[k] = at[k] < 0 ? 0 : at[k];
            put_index(r->put, r->size, o + ow, (int)n, at);
        }
        for (k = 0; k < n; k++)
            r->y[o + ow + k] =
                r->put ? best[k] : best[k] / divisor_of(r, od, oh, ow + k);
    }
}

/* A sum in TILE lanes, for long rows. */
CR_CLONES
static cr_real stretch_sum(int64_t n, const cr_real *x)
{
    cr_real s[TILE] = { 0 };
    int64_t i;
    int k, w;

    for (i = 0; i + TILE <= n; i += TILE) {
        CR_SIMD
        for (k = 0; k < TILE; k++)
            s[k] += x[i + k];
    }
    for (k = 0; i < n; i++, k++)
        s[k] += x[i];
    for (w = TILE / 2; w > 0; w /= 2)
        for (k = 0; k < w; k++)
            s[k] += s[k + w];
    return s[0];
}

/* Whether the window is whole planes, which lie in one piece. */
static bool whole_planes(const struct cr_window *w, const struct place *a)
{
    return a->s[0].low == 0 && a->step[2] == 1 && a->step[1] == w[2].in &&
           a->step[0] == w[1].in * w[2].in && a->s[1].from == 0 &&
           a->s[2].from == 0 && a->s[1].high == w[1].in &&
           a->s[2].high == w[2].in;
}

/* A single window: adaptive, or alone in its row. */
static void plain_alone(const struct run *r, int64_t plane, int64_t od,
                        int64_t oh, int64_t ow)
{
    const struct cr_pool *p = r->p;
    const cr_real *x = r->x + plane * r->in;
    struct place a = place_of(p, od, oh, ow);
    int64_t o = plane * r->out + (od * p->w[1].out + oh) * p->w[2].out + ow;
    cr_real best = -(cr_real)INFINITY;
    int32_t at = -1;

    if (!r->put && whole_planes(p->w, &a)) {
        best = stretch_sum(a.s[0].high * a.step[0], x + a.at);
        r->y[o] = best / divisor_of(r, od, oh, ow);
        return;
    }
    if (!r->put)
        best = 0;
    EACH_ELEMENT(r, a, i, index)
    {
        if (!r->put) {
            best += x[i];
        } else if (at < 0 || (!(x[i] <= best) && best == best)) {
            at = (int32_t)index;
            best = x[i];
        }
    }
    r->y[o] = r->put ? best : best / divisor_of(r, od, oh, ow);
    at = at < 0 ? 0 : at;
    if (r->put)
        put_index(r->put, r->size, o, 1, &at);
}

static void plain_plane(const struct run *r, int64_t plane)
{
    const struct cr_window *w = r->p->w;
    int64_t od, oh, ow, o = plane * r->out;

    if (r->put && r->size == 1 && pairs(r->p)) {
        const cr_real *x = r->x + plane * r->in;

        for (oh = 0; oh < w[1].out; oh++, o += w[2].out)
            cr_max_pool_2x2(w[2].out, x + 2 * oh * w[2].in,
                            x + (2 * oh + 1) * w[2].in, r->y + o,
                            (uint8_t *)r->put + o);
        return;
    }
    for (od = 0; od < w[0].out; od++)
        for (oh = 0; oh < w[1].out; oh++)
            if (!w[2].adaptive && w[2].out > 1)
                plain_windows(r, plane, od, oh);
            else
                for (ow = 0; ow < w[2].out; ow++)
                    plain_alone(r, plane, od, oh, ow);
}

/* The place in the plane of element `index` of window a. */
static int64_t element(const struct run *r, const struct place *a,
                       int64_t index)
{
    return a->at + index / r->khw * a->step[0] +
           index % r->khw / r->kw * a->step[1] + index % r->kw * a->step[2];
}

static bool empty(const struct place *a)
{
    return a->s[0].low >= a->s[0].high || a->s[1].low >= a->s[1].high ||
           a->s[2].low >= a->s[2].high;
}

/* One window at a time: adaptive ones, and those with long indices. */
static void plain_back_alone(const struct run *r, int64_t plane, cr_real *dx,
                             const cr_real *mask)
{
    const struct cr_window *w = r->p->w;
    int64_t od, oh, ow, o = plane * r->out;

    for (od = 0; od < w[0].out; od++)
        for (oh = 0; oh < w[1].out; oh++)
            for (ow = 0; ow < w[2].out; ow++, o++) {
                struct place a = place_of(r->p, od, oh, ow);

                if (empty(&a))
                    continue;
                if (r->get) {
                    int64_t i = element(r, &a, get_index(r->get, r->size, o));

                    dx[i] += mask && mask[i] <= 0 ? 0 : r->x[o];
                } else {
                    cr_real d = r->x[o] / divisor_of(r, od, oh, ow);

                    EACH_ELEMENT(r, a, i, index)
                    {
                        (void)index;
                        dx[i] += d;
                    }
                }
            }
}

/* A row of windows; their maxima are at table[index] + window * stride. */
static void plain_back_max(const struct run *r, const struct place *a,
                           const int32_t *table, int64_t o, cr_real *dx,
                           const cr_real *mask)
{
    const struct cr_window *w = &r->p->w[2];
    int64_t ow, at = a->at;

    for (ow = 0; ow < w->out; ow++, o++, at += w->stride) {
        struct span s = span_of(w, ow);
        int64_t i = at + table[((const uint8_t *)r->get)[o]];

        if (s.low < s.high)
            dx[i] += mask && mask[i] <= 0 ? 0 : r->x[o];
    }
}

/* The same for means: each window spreads what it got. */
static void plain_back_mean(const struct run *r, const struct place *a,
                            int64_t od, int64_t oh, int64_t o, cr_real *dx)
{
    const struct cr_window *w = &r->p->w[2];
    int64_t kd, kh, ow, k, at = a->at;

    for (ow = 0; ow < w->out; ow++, o++, at += w->stride) {
        cr_real d = r->x[o] / divisor_of(r, od, oh, ow);
        struct span s = span_of(w, ow);

        for (kd = a->s[0].low; kd < a->s[0].high; kd++)
            for (kh = a->s[1].low; kh < a->s[1].high; kh++)
                for (k = s.low; k < s.high; k++)
                    dx[at + kd * a->step[0] + kh * a->step[1] +
                       k * a->step[2]] += d;
    }
}

static void plain_backward(const struct run *r, int64_t plane)
{
    const struct cr_pool *p = r->p;
    const struct cr_window *w = p->w;
    cr_real *dx = r->y + plane * r->in;
    const cr_real *mask = r->mask ? r->mask + plane * r->in : NULL;
    int64_t od, oh, i, o = plane * r->out;
    int32_t table[256];
    bool side_by_side = r->get && r->size == 1 && pairs(p);

    if (!r->add && !(side_by_side && r->tiled))
        memset(dx, 0, (size_t)r->in * sizeof *dx);
    if (side_by_side) {
        for (oh = 0; oh < w[1].out; oh++, o += w[2].out) {
            int64_t at = 2 * oh * w[2].in, below = at + w[2].in;

            cr_max_pool_2x2_backward(
                w[2].out, r->x + o, (const uint8_t *)r->get + o,
                mask ? mask + at : NULL, mask ? mask + below : NULL, r->add,
                dx + at, dx + below);
        }
        return;
    }
    if (w[0].adaptive || w[1].adaptive || w[2].adaptive ||
        (r->get && r->size > 1)) {
        plain_back_alone(r, plane, dx, mask);
        return;
    }
    for (i = 0; i < cr_pool_volume(p) && r->get; i++)
        table[i] = (int32_t)(i / r->khw * w[0].dilation * w[1].in * w[2].in +
                             i % r->khw / r->kw * w[1].dilation * w[2].in +
                             i % r->kw * w[2].dilation);
    for (od = 0; od < w[0].out; od++)
        for (oh = 0; oh < w[1].out; oh++, o += w[2].out) {
            struct place a = place_of(p, od, oh, 0);

            if (a.s[0].low >= a.s[0].high || a.s[1].low >= a.s[1].high)
                continue;
            if (r->get)
                plain_back_max(r, &a, table, o, dx, mask);
            else
                plain_back_mean(r, &a, od, oh, o, dx);
        }
}

/* ---- tasks ---- */

static void forward_range(void *ctx, int64_t from, int64_t to)
{
    const struct run *r = ctx;
    int64_t rows = r->p->w[0].out * r->p->w[1].out, w = r->p->w[1].out;

    for (; from < to; from++)
        if (r->p->last)
            last_row(r, from / rows, from % rows / w, from % rows % w);
        else
            plain_plane(r, from);
}

static void backward_range(void *ctx, int64_t from, int64_t to)
{
    const struct run *r = ctx;

    for (; from < to; from++)
        if (r->p->last)
            last_backward(r, from / r->parts, from % r->parts * PART);
        else
            plain_backward(r, from);
}

static void places_range(void *ctx, int64_t from, int64_t to)
{
    const struct run *r = ctx;
    const struct cr_window *w = r->p->w;
    int64_t i;

    for (i = from; i < to; i++) {
        int64_t o = (r->p->last ? i / r->p->c : i) % r->out;
        struct place a = place_of(r->p, o / (w[1].out * w[2].out),
                                  o / w[2].out % w[1].out, o % w[2].out);

        r->places[i] = (int32_t)element(r, &a, get_index(r->get, r->size, i));
    }
}

static void forward_run(struct run *r)
{
    const struct cr_pool *p = r->p;
    int64_t n = p->n * (p->last ? p->w[0].out * p->w[1].out : p->c);

    cr_parallel_for_coarse(n, (double)(p->n * p->c * r->in / n), r,
                           forward_range);
}

static void backward_run(struct run *r)
{
    const struct cr_pool *p = r->p;
    int64_t n;

    r->parts = (p->c + PART - 1) / PART;
    n = p->n * (p->last ? r->parts : p->c);
    cr_parallel_for_coarse(n, (double)(p->n * p->c * r->in / n), r,
                           backward_range);
}

void cr_pool_max(const struct cr_pool *p, const cr_real *x, cr_real *y,
                 void *at)
{
    struct run r = run_of(p, x, y);

    r.put = at;
    forward_run(&r);
}

void cr_pool_places(const struct cr_pool *p, const void *at, int32_t *to)
{
    struct run r = run_of(p, NULL, NULL);

    r.get = at;
    r.places = to;
    cr_parallel_for(p->n * p->c * r.out, 10, &r, places_range);
}

void cr_pool_max_backward(const struct cr_pool *p, const cr_real *dy,
                          const void *at, const cr_real *mask, bool add,
                          cr_real *dx)
{
    struct run r = run_of(p, dy, dx);

    r.get = at;
    r.mask = mask;
    r.add = add;
    backward_run(&r);
}

void cr_pool_mean(const struct cr_pool *p, const cr_real *x, cr_real *y)
{
    struct run r = run_of(p, x, y);

    forward_run(&r);
}

void cr_pool_mean_backward(const struct cr_pool *p, const cr_real *dy, bool add,
                           cr_real *dx)
{
    struct run r = run_of(p, dy, dx);

    r.add = add;
    backward_run(&r);
}

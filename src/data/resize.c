/* Source centres: src = (dst + 0.5) in/out - 0.5.
 *
 * LINEAR, float: bilinear between clamped neighbours; where both sides are
 *     halved, the mean of four pixels, added row by row.
 * LINEAR, uint8: weights are rounded to 1/2048, columns first:
 *     t = q(1-f) p0 + q(f) p1                   (f = 0 outside of the image)
 *     y = ((q(1-g) (t0 >> 4)) >> 16) + ((q(g) (t1 >> 4)) >> 16) + 2) >> 2
 * CUBIC: four clamped neighbours each way, weights by Keys' kernel with
 *     a = -0.75; uint8: weights rounded to 1/2048, y = (sum + 2^21) >> 22.
 * NEAREST: src = min(floor(dst scale), in - 1) with scale = 1 / (out/in) in
 *     double, which may fall just short of in/out (30 to 44, pixel 22).
 * AREA, where no side grows: the mean of what a pixel covers, weighted by how
 *     much of each it covers, in float32, rounded to even; by whole factors
 *     from the sum of the box (2 x 2 bytes: rounded up).
 * AREA, where a side grows: the formula of LINEAR with s = floor(dst in/out)
 *     and f = the fraction of (dst + 1) - (s + 1) out/in, 0 below 0. */
#include "data/resize.h"

#include <string.h>

#include "base/compiler.h"

/* The two neighbours of each position along an axis, and the fraction of the
 * distance between them. */
struct axis {
    int64_t in, out;
    int32_t *low, *high;
    float *way;            /* 0: at the lower neighbour */
    int32_t *wlow, *whigh; /* the two weights in units of 1/2048 */
};

/* Four neighbours of each position along an axis, and their weights. */
struct cubic {
    int32_t *at, *fixed;
    float *weight;
};

/* The input pixels that an output pixel covers along an axis: cell[first[i]] to
 * cell[first[i + 1] - 1]. */
struct cells {
    int32_t *first, *at;
    float *weight;
};

struct cr_resize {
    enum cr_inter inter;
    struct axis y, x;
    struct cubic cy, cx;
    struct cells ay, ax;
    float *sum, *line; /* AREA: each one row of the result */
    int64_t channels;
    int64_t box_h, box_w; /* AREA by integer factors; 0: by other factors */
    bool halves;
};

/* ---- tables ---- */

/* Allocates from the memory of the caller or, with mem NULL, only counts
 * bytes. */
struct layout {
    char *mem;
    size_t used;
};

static void *take(struct layout *r, int64_t n, size_t size)
{
    void *at = r->mem ? r->mem + r->used : NULL;

    r->used += ((size_t)n * size + 63) / 64 * 64;
    return at;
}

static int32_t fixed(float w)
{
    return (int32_t)lrintf(2048 * w);
}

static int64_t clamp(int64_t at, int64_t n)
{
    return at < 0 ? 0 : at >= n ? n - 1 : at;
}

static void axis_layout(struct layout *r, struct axis *a, int64_t in,
                        int64_t out)
{
    *a = (struct axis){ in,
                        out,
                        take(r, out, sizeof(int32_t)),
                        take(r, out, sizeof(int32_t)),
                        take(r, out, sizeof(float)),
                        take(r, out, sizeof(int32_t)),
                        take(r, out, sizeof(int32_t)) };
}

static void axis_make(struct axis *a, enum cr_inter inter, bool zero_outside)
{
    double inverse = (double)a->out / (double)a->in, scale = 1 / inverse;
    int64_t i;

    for (i = 0; i < a->out; i++) {
        double at = inter == CR_LINEAR ? ((double)i + 0.5) * scale - 0.5
                                       : floor((double)i * scale);
        int64_t low = (int64_t)floor(at);
        float f = inter == CR_LINEAR ? (float)at - (float)low : 0;

        if (inter == CR_AREA) {
            f = (float)((double)(i + 1) - (double)(low + 1) * inverse);
            f = f <= 0 ? 0 : f - floorf(f);
        }
        if (zero_outside && (low < 0 || low >= a->in - 1))
            f = 0;
        a->way[i] = f;
        a->wlow[i] = fixed(1 - f);
        a->whigh[i] = fixed(f);
        a->low[i] = (int32_t)clamp(low, a->in);
        a->high[i] = (int32_t)clamp(low + 1, a->in);
    }
}

static void cubic_layout(struct layout *r, struct cubic *c, int64_t out)
{
    *c = (struct cubic){ take(r, 4 * out, sizeof(int32_t)),
                         take(r, 4 * out, sizeof(int32_t)),
                         take(r, 4 * out, sizeof(float)) };
}

static void cubic_make(struct cubic *c, int64_t in, int64_t out)
{
    double scale = 1 / ((double)out / (double)in);
    const float a = -0.75f;
    int64_t i, k;

    for (i = 0; i < out; i++) {
        float x = (float)(((double)i + 0.5) * scale - 0.5);
        int64_t low = (int64_t)floorf(x);
        float *w = c->weight + 4 * i, z;

        x -= (float)low;
        z = 1 - x;
        w[0] = ((a * (x + 1) - 5 * a) * (x + 1) + 8 * a) * (x + 1) - 4 * a;
        w[1] = ((a + 2) * x - (a + 3)) * x * x + 1;
        w[2] = ((a + 2) * z - (a + 3)) * z * z + 1;
        w[3] = 1 - w[0] - w[1] - w[2];
        for (k = 0; k < 4; k++) {
            c->fixed[4 * i + k] = fixed(w[k]);
            c->at[4 * i + k] = (int32_t)clamp(low - 1 + k, in);
        }
    }
}

/* A position covers at most in/out + 2 pixels, so all positions cover in + 2
 * out. */
static void cells_layout(struct layout *r, struct cells *c, int64_t in,
                         int64_t out)
{
    *c = (struct cells){ take(r, out + 1, sizeof(int32_t)),
                         take(r, in + 2 * out, sizeof(int32_t)),
                         take(r, in + 2 * out, sizeof(float)) };
}

static void cells_make(struct cells *c, int64_t in, int64_t out)
{
    double scale = 1 / ((double)out / (double)in);
    int32_t n = 0;
    int64_t i, k;

    for (i = 0; i < out; i++) {
        double from = (double)i * scale, to = from + scale;
        double width = fmin(scale, (double)in - from);
        int64_t high = (int64_t)floor(to), low = (int64_t)ceil(from);

        high = high < in - 1 ? high : in - 1;
        low = low < high ? low : high;
        c->first[i] = n;
        if ((double)low - from > 1e-3) {
            c->at[n] = (int32_t)low - 1;
            c->weight[n++] = (float)(((double)low - from) / width);
        }
        for (k = low; k < high; k++) {
            c->at[n] = (int32_t)k;
            c->weight[n++] = (float)(1 / width);
        }
        if (to - (double)high > 1e-3) {
            c->at[n] = (int32_t)high;
            c->weight[n++] =
                (float)(fmin(fmin(to - (double)high, 1), width) / width);
        }
    }
    c->first[out] = n;
}

static struct cr_resize *resize_layout(struct layout *r,
                                       const struct cr_resize_size *n,
                                       enum cr_inter inter,
                                       struct cr_resize *own)
{
    struct cr_resize *s = take(r, 1, sizeof *s);

    s = s ? s : own;
    *s = (struct cr_resize){ .inter = inter, .channels = n->channels };
    axis_layout(r, &s->y, n->in_h, n->out_h);
    axis_layout(r, &s->x, n->in_w, n->out_w);
    if (inter == CR_CUBIC) {
        cubic_layout(r, &s->cy, n->out_h);
        cubic_layout(r, &s->cx, n->out_w);
    }
    if (inter == CR_AREA) {
        cells_layout(r, &s->ay, n->in_h, n->out_h);
        cells_layout(r, &s->ax, n->in_w, n->out_w);
        s->sum = take(r, n->out_w * n->channels, sizeof(float));
        s->line = take(r, n->out_w * n->channels, sizeof(float));
    }
    return s;
}

size_t cr_resize_bytes(const struct cr_resize_size *size, enum cr_inter inter)
{
    struct layout r = { 0 };
    struct cr_resize own;

    resize_layout(&r, size, inter, &own);
    return r.used;
}

const struct cr_resize *
cr_resize_make(void *mem, const struct cr_resize_size *n, enum cr_inter inter)
{
    struct layout r = { .mem = mem };
    struct cr_resize *s = resize_layout(&r, n, inter, NULL);
    bool shrinks = n->in_h >= n->out_h && n->in_w >= n->out_w;

    if (inter == CR_AREA && shrinks) {
        cells_make(&s->ay, n->in_h, n->out_h);
        cells_make(&s->ax, n->in_w, n->out_w);
        if (n->in_h % n->out_h == 0 && n->in_w % n->out_w == 0) {
            s->box_h = n->in_h / n->out_h;
            s->box_w = n->in_w / n->out_w;
        }
    } else if (inter == CR_CUBIC) {
        cubic_make(&s->cy, n->in_h, n->out_h);
        cubic_make(&s->cx, n->in_w, n->out_w);
    } else {
        /* a growing side is interpolated: no cells */
        s->ay.first = NULL;
        axis_make(&s->y, inter, inter == CR_AREA);
        axis_make(&s->x, inter, inter != CR_NEAREST);
    }
    s->halves = n->in_h == 2 * n->out_h && n->in_w == 2 * n->out_w;
    return s;
}

/* ---- running ---- */

static void cubic_bytes(const struct cr_resize *r, const unsigned char *x,
                        unsigned char *y)
{
    int64_t n = r->channels, i, j, c, u, v;

    for (i = 0; i < r->y.out; i++)
        for (j = 0; j < r->x.out; j++)
            for (c = 0; c < n; c++) {
                int64_t sum = 1 << 21;

                for (u = 4 * i; u < 4 * i + 4; u++) {
                    const unsigned char *a = x + r->cy.at[u] * r->x.in * n + c;
                    int64_t t = 0;

                    for (v = 4 * j; v < 4 * j + 4; v++)
                        t += r->cx.fixed[v] * a[r->cx.at[v] * n];
                    sum += t * r->cy.fixed[u];
                }
                sum >>= 22;
                *y++ = (unsigned char)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
            }
}

static void cubic_floats(const struct cr_resize *r, const float *x, float *y)
{
    int64_t n = r->channels, i, j, c, u, v;

    for (i = 0; i < r->y.out; i++)
        for (j = 0; j < r->x.out; j++)
            for (c = 0; c < n; c++) {
                float sum = 0;

                for (u = 4 * i; u < 4 * i + 4; u++) {
                    const float *a = x + r->cy.at[u] * r->x.in * n + c;
                    float t = 0;

                    for (v = 4 * j; v < 4 * j + 4; v++)
                        t += a[r->cx.at[v] * n] * r->cx.weight[v];
                    sum += t * r->cy.weight[u];
                }
                *y++ = sum;
            }
}

static void nearest(const struct cr_resize *r, const char *x, char *y,
                    size_t pixel)
{
    int64_t i, j;

    for (i = 0; i < r->y.out; i++)
        for (j = 0; j < r->x.out; j++)
            memcpy(y + (size_t)(i * r->x.out + j) * pixel,
                   x + (size_t)(r->y.low[i] * r->x.in + r->x.low[j]) * pixel,
                   pixel);
}

static void bytes_along_x(const struct cr_resize *r, const unsigned char *x,
                          int64_t first, int64_t columns, int32_t *to)
{
    const struct axis *a = &r->x;
    int64_t n = r->channels, j = first / n, c = first % n, k;

    for (k = 0; k < columns; k++) {
        to[k] = (a->wlow[j] * x[a->low[j] * n + c] +
                 a->whigh[j] * x[a->high[j] * n + c]) >> 4;
        if (++c == n) {
            c = 0;
            j++;
        }
    }
}

CR_CLONES static void bytes_along_y(int32_t wlow, const int32_t *low,
                                    int32_t whigh, const int32_t *high,
                                    int64_t columns, unsigned char *y)
{
    int64_t k;

    CR_SIMD
    for (k = 0; k < columns; k++)
        y[k] = (unsigned char)((((wlow * low[k]) >> 16) +
                                ((whigh * high[k]) >> 16) + 2) >> 2);
}

static void floats_along_x(const struct cr_resize *r, const float *x,
                           int64_t first, int64_t columns, float *to)
{
    const struct axis *a = &r->x;
    int64_t n = r->channels, j = first / n, c = first % n, k;

    for (k = 0; k < columns; k++) {
        to[k] = x[a->low[j] * n + c] * (1 - a->way[j]) +
                x[a->high[j] * n + c] * a->way[j];
        if (++c == n) {
            c = 0;
            j++;
        }
    }
}

CR_CLONES static void floats_along_y(float way, const float *low,
                                     const float *high, int64_t columns,
                                     float *y)
{
    int64_t k;

    CR_SIMD
    for (k = 0; k < columns; k++)
        y[k] = low[k] * (1 - way) + high[k] * way;
}

/* LINEAR: in blocks of columns, which are numbers of all channels, each row of
 * the input is resized along x once, to the place of its number modulo 2: the
 * two rows of a position follow each other. */
#define COLUMNS 512

static void linear(const struct cr_resize *r, bool bytes, const void *x,
                   void *y)
{
    int64_t in = r->x.in * r->channels, out = r->x.out * r->channels;
    const unsigned char *from_bytes = x;
    const float *from_floats = x;
    unsigned char *to_bytes = y;
    float *to_floats = y, floats[2][COLUMNS];
    int32_t units[2][COLUMNS]; /* of 1/128 */
    int64_t i, k, first, columns;

    for (first = 0; first < out; first += COLUMNS) {
        int64_t have[2] = { -1, -1 };

        columns = out - first < COLUMNS ? out - first : COLUMNS;
        for (i = 0; i < r->y.out; i++) {
            int64_t low = r->y.low[i], high = r->y.high[i];

            for (k = low; k <= high; k++) {
                if (have[k % 2] == k)
                    continue;
                if (bytes)
                    bytes_along_x(r, from_bytes + k * in, first, columns,
                                  units[k % 2]);
                else
                    floats_along_x(r, from_floats + k * in, first, columns,
                                   floats[k % 2]);
                have[k % 2] = k;
            }
            k = i * out + first;
            if (bytes)
                bytes_along_y(r->y.wlow[i], units[low % 2], r->y.whigh[i],
                              units[high % 2], columns, to_bytes + k);
            else
                floats_along_y(r->y.way[i], floats[low % 2], floats[high % 2],
                               columns, to_floats + k);
        }
    }
}

/* The order of the sums is that of OpenCV: by rows where it processes four
 * numbers at once, else one number after the other. */
static void halve_floats(const struct cr_resize *r, const float *x, float *y)
{
    int64_t n = r->channels, row = r->x.in * n, i, j, c;
    int64_t fours = n == 4 ? r->x.out : n == 1 ? r->x.out / 4 * 4 : 0;

    for (i = 0; i < r->y.out; i++)
        for (j = 0; j < r->x.out; j++)
            for (c = 0; c < n; c++) {
                const float *a = x + 2 * i * row + 2 * j * n + c;
                float top = a[0] + a[n];

                *y++ = 0.25f * (j < fours ? top + (a[row] + a[row + n])
                                          : top + a[row] + a[row + n]);
            }
}

static unsigned char byte(float v)
{
    return v <= 0 ? 0 : v >= 255 ? 255 : (unsigned char)lrintf(v);
}

static void box_bytes(const struct cr_resize *r, const unsigned char *x,
                      unsigned char *y)
{
    int64_t n = r->channels, row = r->x.in * n, i, j, c, u, v;
    float part = 1.0f / (float)(r->box_h * r->box_w);

    for (i = 0; i < r->y.out; i++)
        for (j = 0; j < r->x.out; j++)
            for (c = 0; c < n; c++) {
                const unsigned char *a =
                    x + i * r->box_h * row + j * r->box_w * n + c;
                int64_t sum = 0;

                for (u = 0; u < r->box_h; u++)
                    for (v = 0; v < r->box_w; v++)
                        sum += a[u * row + v * n];
                *y++ = r->halves && (n == 1 || n == 3 || n == 4)
                           ? (unsigned char)((sum + 2) >> 2)
                           : byte((float)sum * part);
            }
}

/* Adds four numbers at a time to each other, then to the sum, as OpenCV
 * does. */
static void box_floats(const struct cr_resize *r, const float *x, float *y)
{
    int64_t n = r->channels, row = r->x.in * n, i, j, c, k;
    int64_t area = r->box_h * r->box_w, w = r->box_w;
    float part = 1.0f / (float)area;

    for (i = 0; i < r->y.out; i++)
        for (j = 0; j < r->x.out; j++)
            for (c = 0; c < n; c++) {
                const float *a = x + i * r->box_h * row + j * w * n + c;
                float sum = 0;

#define AT(k) a[(k) / w * row + (k) % w * n]
                for (k = 0; k + 4 <= area; k += 4)
                    sum += AT(k) + AT(k + 1) + AT(k + 2) + AT(k + 3);
                for (; k < area; k++)
                    sum += AT(k);
#undef AT
                *y++ = sum * part;
            }
}

/* AREA with any factors: resizes each covered row, then adds it with its
 * weight. */
static void area_any(const struct cr_resize *r, enum cr_type type,
                     const void *x, void *y)
{
    int64_t n = r->channels, row = r->x.in * n, line = r->x.out * n;
    int64_t i, j, c, u, v;

    for (i = 0; i < r->y.out; i++) {
        for (u = r->ay.first[i]; u < r->ay.first[i + 1]; u++) {
            for (j = 0; j < r->x.out; j++)
                for (c = 0; c < n; c++) {
                    float sum = 0;

                    for (v = r->ax.first[j]; v < r->ax.first[j + 1]; v++) {
                        int64_t at = r->ay.at[u] * row + r->ax.at[v] * n + c;

                        sum += (type == CR_U8 ? ((const unsigned char *)x)[at]
                                              : ((const float *)x)[at]) *
                               r->ax.weight[v];
                    }
                    r->line[j * n + c] = sum;
                }
            for (j = 0; j < line; j++)
                r->sum[j] = (u > r->ay.first[i] ? r->sum[j] : 0) +
                            r->ay.weight[u] * r->line[j];
        }
        for (j = 0; j < line; j++)
            if (type == CR_U8)
                ((unsigned char *)y)[i * line + j] = byte(r->sum[j]);
            else
                ((float *)y)[i * line + j] = r->sum[j];
    }
}

void cr_resize_run(const struct cr_resize *r, enum cr_type type, const void *x,
                   void *y)
{
    bool bytes = type == CR_U8, area = r->inter == CR_AREA && r->ay.first;

    if (r->inter == CR_NEAREST)
        nearest(r, x, y, (size_t)r->channels * cr_type_size(type));
    else if (r->inter == CR_CUBIC && bytes)
        cubic_bytes(r, x, y);
    else if (r->inter == CR_CUBIC)
        cubic_floats(r, x, y);
    else if (!bytes && r->halves)
        halve_floats(r, x, y);
    else if (area && r->box_h > 0 && bytes)
        box_bytes(r, x, y);
    else if (area && r->box_h > 0)
        box_floats(r, x, y);
    else if (area)
        area_any(r, type, x, y);
    else
        linear(r, bytes, x, y);
}

/* Resize: another height and width, as OpenCV computes it (semantics.md 7.3).
 *
 * size h, w, or one number for the shorter side, the other keeping the
 * proportion (floor). Source centres: src = (dst + 0.5) in/out - 0.5.
 *
 * LINEAR, float: bilinear between clamped neighbours; where both sides are
 *     halved, the mean of four pixels, added row by row.
 * LINEAR, uint8: weights are rounded to 1/2048, columns first:
 *     t = q(1-f) p0 + q(f) p1                   (f = 0 outside of the image)
 *     y = ((q(1-g) (t0 >> 4)) >> 16) + ((q(g) (t1 >> 4)) >> 16) + 2) >> 2
 * CUBIC: four clamped neighbours each way, weights by Keys' kernel with
 *     a = -0.75; uint8: weights rounded to 1/2048, y = (sum + 2^21) >> 22.
 * NEAREST: src = min(floor(dst scale), in - 1) with scale = 1 / (out/in) in
 *     double, which may fall just short of in/out (30 to 44, pixel 22). */
#include "data/transform.h"

#include <string.h>

struct resize {
    struct cr_ints size;
    int interpolation;
};

#define SIDE_MAX 65536

enum { LINEAR, NEAREST, CUBIC };

static const struct cr_opt resize_opts[] = {
    CR_INTS(struct resize, size, 1, SIDE_MAX,
            "Height and width; one number is for the shorter side."),
    CR_ENUM_OR(struct resize, interpolation, LINEAR, "LINEAR|NEAREST|CUBIC",
               "How pixels between pixels are made."),
    { 0 },
};

/* The two neighbours of each place along an axis, and the way between. */
struct axis {
    int64_t in, out;
    int32_t *low, *high;
    float *way;             /* 0: at low */
    int32_t *wlow, *whigh;  /* the same in 1/2048 */
};

/* Four neighbours of each place along an axis, and their weights. */
struct cubic {
    int32_t *at, *fixed;
    float *weight;
};

struct plan {
    struct axis y, x;
    struct cubic cy, cx;
    int64_t channels;
};

static int32_t fixed(float w)
{
    return (int32_t)lrintf(2048 * w);
}

static struct axis resize_axis(struct cr_arena *arena, int64_t in,
                               int64_t out, int how, bool zero_outside)
{
    struct axis a = { in, out,
                      CR_NEWS(arena, int32_t, out),
                      CR_NEWS(arena, int32_t, out),
                      CR_NEWS(arena, float, out),
                      CR_NEWS(arena, int32_t, out),
                      CR_NEWS(arena, int32_t, out) };
    double scale = 1 / ((double)out / (double)in);
    int64_t i;

    for (i = 0; i < out; i++) {
        double at = how == NEAREST ? floor((double)i * scale)
                                   : ((double)i + 0.5) * scale - 0.5;
        int64_t low = (int64_t)floor(at), high = low + 1;
        float f = how == NEAREST ? 0 : (float)at - (float)low;

        if (zero_outside && (low < 0 || low >= in - 1))
            f = 0;
        a.way[i] = f;
        a.wlow[i] = fixed(1 - f);
        a.whigh[i] = fixed(f);
        a.low[i] = (int32_t)(low < 0 ? 0 : low >= in ? in - 1 : low);
        a.high[i] = (int32_t)(high < 0 ? 0 : high >= in ? in - 1 : high);
    }
    return a;
}

static struct cubic resize_cubic(struct cr_arena *arena, int64_t in,
                                 int64_t out)
{
    struct cubic c = { CR_NEWS(arena, int32_t, 4 * out),
                       CR_NEWS(arena, int32_t, 4 * out),
                       CR_NEWS(arena, float, 4 * out) };
    double scale = 1 / ((double)out / (double)in);
    const float a = -0.75f;
    int64_t i, k;

    for (i = 0; i < out; i++) {
        float x = (float)(((double)i + 0.5) * scale - 0.5);
        int64_t low = (int64_t)floorf(x);
        float *w = c.weight + 4 * i, z;

        x -= (float)low;
        z = 1 - x;
        w[0] = ((a * (x + 1) - 5 * a) * (x + 1) + 8 * a) * (x + 1) - 4 * a;
        w[1] = ((a + 2) * x - (a + 3)) * x * x + 1;
        w[2] = ((a + 2) * z - (a + 3)) * z * z + 1;
        w[3] = 1 - w[0] - w[1] - w[2];
        for (k = 0; k < 4; k++) {
            int64_t at = low - 1 + k;

            c.fixed[4 * i + k] = fixed(w[k]);
            c.at[4 * i + k] =
                (int32_t)(at < 0 ? 0 : at >= in ? in - 1 : at);
        }
    }
    return c;
}

static bool resize_plan(struct cr_tplan *p)
{
    const struct resize *o = p->opts;
    struct plan *r = CR_NEW(p->arena, struct plan);
    int64_t h, w, oh, ow;
    bool bytes = p->in.type == CR_U8;

    if ((p->in.rank != 2 && p->in.rank != 3) ||
        (!bytes && p->in.type != CR_F32))
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "Resize takes images (height, width, channels) of "
                        "uint8 or float32, not %s %s",
                        cr_type_name(p->in.type),
                        cr_show(p->arena, &p->in));
    if (o->size.n > 2)
        return cr_error(p->diag, p->pos, CR_E_OUT_OF_RANGE,
                        "Resize: size has %d numbers, but takes 1 or 2",
                        o->size.n);
    h = p->in.dim[0];
    w = p->in.dim[1];
    if (h < 1 || w < 1)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "Resize: the image %s is empty",
                        cr_show(p->arena, &p->in));
    oh = o->size.v[0];
    ow = o->size.n == 2 ? o->size.v[1] : oh;
    if (o->size.n == 1 && h < w)
        ow = (int64_t)((double)w / (double)h * (double)oh);
    else if (o->size.n == 1)
        oh = (int64_t)((double)h / (double)w * (double)ow);
    p->out = p->in;
    p->out.dim[0] = oh;
    p->out.dim[1] = ow;
    if (oh > SIDE_MAX || ow > SIDE_MAX || !cr_spec_fits(&p->out))
        return cr_error(p->diag, p->pos, CR_E_LIMIT,
                        "Resize: %s is too large",
                        cr_show(p->arena, &p->out));
    r->channels = p->in.rank == 3 ? p->in.dim[2] : 1;
    r->y = resize_axis(p->arena, h, oh, o->interpolation, false);
    r->x = resize_axis(p->arena, w, ow, o->interpolation, true);
    if (o->interpolation == CUBIC) {
        r->cy = resize_cubic(p->arena, h, oh);
        r->cx = resize_cubic(p->arena, w, ow);
    }
    p->self = r;
    return true;
}

static void resize_cubic_bytes(const struct plan *r, const unsigned char *x,
                               unsigned char *y)
{
    int64_t n = r->channels, i, j, c, u, v;

    for (i = 0; i < r->y.out; i++)
        for (j = 0; j < r->x.out; j++)
            for (c = 0; c < n; c++) {
                int64_t sum = 1 << 21;

                for (u = 4 * i; u < 4 * i + 4; u++) {
                    const unsigned char *a =
                        x + r->cy.at[u] * r->x.in * n + c;
                    int64_t t = 0;

                    for (v = 4 * j; v < 4 * j + 4; v++)
                        t += r->cx.fixed[v] * a[r->cx.at[v] * n];
                    sum += t * r->cy.fixed[u];
                }
                sum >>= 22;
                *y++ = (unsigned char)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
            }
}

static void resize_cubic_floats(const struct plan *r, const float *x,
                                float *y)
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

static void resize_nearest(const struct plan *r, const char *x, char *y,
                           size_t pixel)
{
    int64_t i, j;

    for (i = 0; i < r->y.out; i++)
        for (j = 0; j < r->x.out; j++)
            memcpy(y + (size_t)(i * r->x.out + j) * pixel,
                   x + (size_t)(r->y.low[i] * r->x.in + r->x.low[j]) * pixel,
                   pixel);
}

static void resize_bytes(const struct plan *r, const unsigned char *x,
                         unsigned char *y)
{
    int64_t n = r->channels, i, j, c;

    for (i = 0; i < r->y.out; i++)
        for (j = 0; j < r->x.out; j++)
            for (c = 0; c < n; c++) {
                const unsigned char *a = x + r->y.low[i] * r->x.in * n + c;
                const unsigned char *b = x + r->y.high[i] * r->x.in * n + c;
                int64_t p = r->x.low[j] * n, q = r->x.high[j] * n;
                int32_t t0 = r->x.wlow[j] * a[p] + r->x.whigh[j] * a[q];
                int32_t t1 = r->x.wlow[j] * b[p] + r->x.whigh[j] * b[q];

                y[(i * r->x.out + j) * n + c] =
                    (unsigned char)((((r->y.wlow[i] * (t0 >> 4)) >> 16) +
                                     ((r->y.whigh[i] * (t1 >> 4)) >> 16) +
                                     2) >>
                                    2);
            }
}

static void resize_floats(const struct plan *r, const float *x, float *y)
{
    int64_t n = r->channels, i, j, c;

    for (i = 0; i < r->y.out; i++)
        for (j = 0; j < r->x.out; j++)
            for (c = 0; c < n; c++) {
                const float *a = x + r->y.low[i] * r->x.in * n + c;
                const float *b = x + r->y.high[i] * r->x.in * n + c;
                int64_t p = r->x.low[j] * n, q = r->x.high[j] * n;
                float f = r->x.way[j], g = r->y.way[i];
                float t0 = a[p] * (1 - f) + a[q] * f;
                float t1 = b[p] * (1 - f) + b[q] * f;

                y[(i * r->x.out + j) * n + c] = t0 * (1 - g) + t1 * g;
            }
}

/* The order of the sum is OpenCV's: row by row where it takes four numbers at
 * once, else one after the other. */
static void resize_halve(const struct plan *r, const float *x, float *y)
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

static bool resize_apply(struct cr_sample *s)
{
    const struct resize *o = s->plan->opts;
    const struct plan *r = s->plan->self;

    if (o->interpolation == NEAREST)
        resize_nearest(r, s->x, s->y,
                       (size_t)r->channels * cr_type_size(s->plan->in.type));
    else if (o->interpolation == CUBIC && s->plan->in.type == CR_U8)
        resize_cubic_bytes(r, s->x, s->y);
    else if (o->interpolation == CUBIC)
        resize_cubic_floats(r, s->x, s->y);
    else if (s->plan->in.type == CR_U8)
        resize_bytes(r, s->x, s->y);
    else if (r->y.in == 2 * r->y.out && r->x.in == 2 * r->x.out)
        resize_halve(r, s->x, s->y);
    else
        resize_floats(r, s->x, s->y);
    return true;
}

const struct cr_transform cr_transform_resize = {
    .about = {
        .name = "Resize",
        .summary = "Another height and width.",
        .detail = "Images (height, width, channels) or (height, width) of "
                  "uint8 or float32. No anti-aliasing, as OpenCV and "
                  "MindSpore do it; uint8 results are MindSpore's to the "
                  "bit; CUBIC of float32 is to the rounding of its sums.",
        .example = "datapipe: {image: [{Resize: {size: [32, 32]}}]}\n",
        .opts = resize_opts,
        .size = sizeof(struct resize),
    },
    .plan = resize_plan,
    .apply = resize_apply,
};

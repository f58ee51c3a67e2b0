/* GaussianBlur: convolution of each channel with
 *
 *     k(i) ~ exp(-(i - (n - 1) / 2)^2 / (2 sigma^2))
 *
 * along the rows and the columns, mirrored at the border. Weights are rounded
 * to 1/256, each with the error of those before it, so that their sum is 1, as
 * in OpenCV; sums are exact and rounded once. */
#include "data/enhance.h"

#include <math.h>
#include <string.h>

#include "base/compiler.h"

struct gaussian_blur {
    struct cr_ints kernel_size;
    struct cr_reals sigma;
};

#define SIZE_MAX_ODD 4095

static const struct cr_opt gaussian_blur_opts[] = {
    CR_INTS(struct gaussian_blur, kernel_size, 1, SIZE_MAX_ODD,
            "Size of the window, odd: one number, or width and height."),
    CR_REALS_OPTIONAL(struct gaussian_blur, sigma, 0, 1e6,
                      "Standard deviation in pixels: one number, or in x and "
                      "y. Default: 0.3 ((size - 1) / 2 - 1) + 0.8."),
    { 0 },
};

struct plan {
    struct cr_image image;
    int64_t size[2]; /* in x and y */
    int *weight[2];
};

static int *gaussian_weights(struct cr_arena *arena, int64_t n, double sigma)
{
    double *k = CR_NEWS(arena, double, n), sum = 0, error = 0;
    int *w = CR_NEWS(arena, int, n), left = 256;
    int64_t i;

    if (sigma <= 0)
        sigma = 0.3 * ((double)(n - 1) * 0.5 - 1) + 0.8;
    for (i = 0; i < n; i++) {
        double at = (double)i - (double)(n - 1) / 2;

        sum += k[i] = exp(-at * at / (2 * sigma * sigma));
    }
    for (i = 0; i < n / 2; i++) {
        double v = k[i] / sum * 256 + error;

        w[i] = w[n - 1 - i] = (int)lrint(v);
        error = v - w[i];
        left -= 2 * w[i];
    }
    w[n / 2] = left;
    return w;
}

static bool gaussian_blur_plan(struct cr_transform_plan *p)
{
    const struct gaussian_blur *o = p->opts;
    struct plan *r = CR_NEW(p->arena, struct plan);
    size_t row;
    int i;

    p->self = r;
    p->out = p->in;
    if (!cr_image_of_bytes(p, "GaussianBlur", 0, &r->image))
        return false;
    if (o->kernel_size.n > 2 || o->sigma.n > 2)
        return cr_error(p->diag, p->pos, CR_E_OUT_OF_RANGE,
                        "GaussianBlur: %s: expected one number, or two",
                        o->sigma.n > 2 ? "sigma" : "kernel_size");
    for (i = 0; i < 2; i++) {
        double sigma = o->sigma.n ? o->sigma.v[i % o->sigma.n] : 0;

        r->size[i] = o->kernel_size.v[i % o->kernel_size.n];
        if (r->size[i] % 2 == 0)
            return cr_error(p->diag, p->pos, CR_E_OUT_OF_RANGE,
                            "GaussianBlur: kernel_size: found %lld, expected "
                            "an odd number",
                            (long long)r->size[i]);
        r->weight[i] = gaussian_weights(p->arena, r->size[i], sigma);
    }
    /* sums of rows; of one row, the sums across rows, and its pixels with
     * their margins */
    row = (size_t)(r->image.w * r->image.c);
    p->scratch = (cr_bytes(&p->in) + row) * sizeof(int) + row +
                 (size_t)((r->size[0] - 1) * r->image.c);
    return true;
}

/* The index of 0..n-1 that i is mirrored to, about the outermost pixels. */
static int64_t mirrored(int64_t i, int64_t n)
{
    while (n > 1 && (i < 0 || i >= n))
        i = i < 0 ? -i : 2 * (n - 1) - i;
    return n > 1 ? i : 0;
}

/* y += w (a + b), or w a if there is no b */
static CR_CLONES void add_bytes(int *y, const unsigned char *a,
                                const unsigned char *b, int w, int64_t n)
{
    int64_t i;

    if (!b) {
        CR_SIMD
        for (i = 0; i < n; i++)
            y[i] += w * a[i];
        return;
    }
    CR_SIMD
    for (i = 0; i < n; i++)
        y[i] += w * (a[i] + b[i]);
}

static CR_CLONES void add_sums(int *y, const int *a, const int *b, int w,
                               int64_t n)
{
    int64_t i;

    if (!b) {
        CR_SIMD
        for (i = 0; i < n; i++)
            y[i] += w * a[i];
        return;
    }
    CR_SIMD
    for (i = 0; i < n; i++)
        y[i] += w * (a[i] + b[i]);
}

/* Weighted sums of a row, which is copied to `line` with its margins. */
static void sum_row(const struct plan *r, const unsigned char *x,
                    unsigned char *line, int *y)
{
    const struct cr_image *m = &r->image;
    int64_t half = r->size[0] / 2, row = m->w * m->c, k;

    for (k = -half; k < 0; k++)
        memcpy(line + (k + half) * m->c, x + mirrored(k, m->w) * m->c,
               (size_t)m->c);
    memcpy(line + half * m->c, x, (size_t)row);
    for (k = m->w; k < m->w + half; k++)
        memcpy(line + (k + half) * m->c, x + mirrored(k, m->w) * m->c,
               (size_t)m->c);
    memset(y, 0, (size_t)row * sizeof(*y));
    for (k = 0; k < half; k++)
        add_bytes(y, line + k * m->c, line + (2 * half - k) * m->c,
                  r->weight[0][k], row);
    add_bytes(y, line + half * m->c, NULL, r->weight[0][half], row);
}

static bool gaussian_blur_apply(struct cr_sample *s)
{
    const struct plan *r = s->plan->self;
    const struct cr_image *m = &r->image;
    unsigned char *y = s->y;
    int64_t i, j, k, row = m->w * m->c, half = r->size[1] / 2;
    int *sums = s->scratch, *sum = sums + m->h * row;

    for (i = 0; i < m->h; i++)
        sum_row(r, (const unsigned char *)s->x + i * row,
                (unsigned char *)(sum + row), sums + i * row);
    for (i = 0; i < m->h; i++, y += row) {
        memset(sum, 0, (size_t)row * sizeof(*sum));
        for (k = 0; k < half; k++)
            add_sums(sum, sums + mirrored(i + k - half, m->h) * row,
                     sums + mirrored(i + half - k, m->h) * row,
                     r->weight[1][k], row);
        add_sums(sum, sums + i * row, NULL, r->weight[1][half], row);
        CR_SIMD
        for (j = 0; j < row; j++)
            y[j] = (unsigned char)((sum[j] + (1 << 15)) >> 16);
    }
    return true;
}

const struct cr_transform cr_transform_gaussian_blur = {
    .about = {
        .name = "GaussianBlur",
        .summary = "Blurs an image with a Gaussian window.",
        .detail = "Images of uint8; bit-identical to MindSpore.",
        .example = "datapipe:\n"
                   "  image: [{GaussianBlur: {kernel_size: 3}, only: train}]\n",
        .opts = gaussian_blur_opts,
        .size = sizeof(struct gaussian_blur),
    },
    .plan = gaussian_blur_plan,
    .apply = gaussian_blur_apply,
};

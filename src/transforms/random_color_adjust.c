/* RandomColorAdjust: brightness, contrast, saturation and hue of an RGB image
 * change by factors f that are uniform in their ranges, in a random order.
 *
 *     brightness  y = f x
 *     contrast    y = (1 - f) m + f x    m: the rounded mean of grey
 *     saturation  y = (1 - f) grey + f x
 *     hue         H of HSV (a full circle is 256) is shifted by trunc(f 255)
 *
 * each rounded and limited to 0..255. grey is computed in 1/2^15 and sums in
 * float32, with one rounding for f x and one for the rest, as in OpenCV. All
 * four are bit-identical to MindSpore (OpenCV with AVX2). */
#include "data/enhance.h"

#include <string.h>

struct color {
    struct cr_reals brightness, contrast, saturation, hue;
};

static const struct cr_opt color_opts[] = {
    CR_REALS_OPTIONAL(
        struct color, brightness, 0, 1e6,
        "Minimum and maximum factor, or one number f for 1 - f to 1 + f. "
        "Default: 1, no change."),
    CR_REALS_OPTIONAL(struct color, contrast, 0, 1e6, "Same as brightness."),
    CR_REALS_OPTIONAL(struct color, saturation, 0, 1e6, "Same as brightness."),
    CR_REALS_OPTIONAL(struct color, hue, -0.5, 0.5,
                      "Minimum and maximum shift, in turns of the hue circle, "
                      "or one number f for -f to f. Default: 0, no change."),
    { 0 },
};

enum {
    BRIGHTNESS,
    CONTRAST,
    SATURATION,
    HUE,
    CHANGES
};

struct plan {
    double low[CHANGES], high[CHANGES];
    int64_t height, width;
};

static bool color_range(struct cr_transform_plan *p, const char *name,
                        const struct cr_reals *given, double middle,
                        double *low, double *high)
{
    double f = given->n > 0 ? given->v[0] : 0;

    if (given->n == 2) {
        *low = given->v[0];
        *high = given->v[1];
    } else {
        *low = middle == 1 && f > 1 ? 0 : middle - f;
        *high = middle + f;
    }
    if (given->n <= 2 && *low <= *high)
        return true;
    return cr_error(p->diag, p->pos, CR_E_OUT_OF_RANGE,
                    "RandomColorAdjust: %s: expected one number of at least 0, "
                    "or a minimum and a maximum",
                    name);
}

static bool color_plan(struct cr_transform_plan *p)
{
    const struct color *o = p->opts;
    struct plan *r = CR_NEW(p->arena, struct plan);
    struct cr_image m;

    p->self = r;
    p->out = p->in;
    if (!cr_image_of_bytes(p, "RandomColorAdjust", 3, &m))
        return false;
    r->height = m.h;
    r->width = m.w;
    return color_range(p, "brightness", &o->brightness, 1, &r->low[0],
                       &r->high[0]) &&
           color_range(p, "contrast", &o->contrast, 1, &r->low[1],
                       &r->high[1]) &&
           color_range(p, "saturation", &o->saturation, 1, &r->low[2],
                       &r->high[2]) &&
           color_range(p, "hue", &o->hue, 0, &r->low[3], &r->high[3]);
}

static int at_most(int a, int b)
{
    return a > b ? a : b;
}

/* To HSV, where a circle is 256, and back, where it is 255, as OpenCV's
 * RGB2HSV_FULL and HSV2RGB_FULL. The latter uses vectors of 32 pixels, which
 * truncate, and rounds the remaining pixels of a row. */
static void color_shift_hue(unsigned char *x, int64_t h, int64_t w, double f)
{
    /* per sixth of the circle: index of R, G, B among maximum, minimum,
     * falling, rising */
    static const unsigned char parts[6][3] = {
        { 0, 3, 1 }, { 2, 0, 1 }, { 1, 0, 3 },
        { 1, 2, 0 }, { 3, 1, 0 }, { 0, 1, 2 },
    };
    const float part = 6.0f / 255, scale = 1.0f / 255;
    int turn = (int)((float)f * 255);
    int64_t i, k;

    for (i = 0; i < h * w; i++, x += 3) {
        int r = x[0], g = x[1], b = x[2], v = at_most(at_most(r, g), b);
        int d = v + at_most(at_most(-r, -g), -b), hue, sat, sector;
        float s, p, frac, of[4];

        hue = v == r ? g - b : v == g ? b - r + 2 * d : r - g + 4 * d;
        sat = v ? (d * (int)lrint((255 << 12) / (double)v) + 2048) >> 12 : 0;
        hue = d ? (hue * (int)lrint((256 << 12) / (6.0 * d)) + 2048) >> 12 : 0;
        s = (float)sat * scale;
        p = (float)v * scale;
        frac = (float)((hue + turn) & 255) * part;
        sector = (int)frac;
        frac -= (float)sector;
        of[0] = p;
        of[1] = p * (1 - s);
        of[2] = p * (1 - s * frac);
        of[3] = p * (1 - s * (1 - frac));
        for (k = 0; k < 3; k++) {
            float y = of[parts[sector % 6][k]] * 255;

            x[k] = i % w < w / 32 * 32 ? (unsigned char)y
                                       : cr_enhance_byte(y);
        }
    }
}

static bool color_apply(struct cr_sample *s)
{
    const struct plan *r = s->plan->self;
    int64_t order[CHANGES], n = r->height * r->width;
    unsigned char *y = s->y;
    int i;

    memcpy(y, s->x, (size_t)n * 3);
    cr_rng_permute(&s->rng, CHANGES, order);
    for (i = 0; i < CHANGES; i++) {
        int64_t k = order[i];
        double f =
            r->low[k] + (r->high[k] - r->low[k]) *
                            cr_rng_double(&s->rng, CHANGES + (uint64_t)k);

        if (k == BRIGHTNESS && f != 1)
            cr_enhance_brightness(y, n, (float)f);
        else if (k == CONTRAST && f != 1)
            cr_enhance_contrast(y, n, (float)f);
        else if (k == SATURATION && f != 1)
            cr_enhance_saturation(y, n, (float)f);
        else if (k == HUE && f != 0)
            color_shift_hue(y, r->height, r->width, f);
    }
    return true;
}

const struct cr_transform cr_transform_random_color_adjust = {
    .about = {
        .name = "RandomColorAdjust",
        .summary = "Random brightness, contrast, saturation and hue.",
        .detail = "Images (height, width, 3) of uint8. The four changes are "
                  "applied in a random order.",
        .example = "datapipe:\n"
                   "  image:\n"
                   "    - {RandomColorAdjust: {brightness: 0.2, contrast: "
                   "0.2}, only: train}\n",
        .opts = color_opts,
        .size = sizeof(struct color),
    },
    .plan = color_plan,
    .apply = color_apply,
    .random = true,
};

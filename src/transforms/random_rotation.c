/* RandomRotation: rotates by an angle uniform in [-d, d] or [min, max] degrees,
 * counter-clockwise, about the centre ((w - 1) / 2, (h - 1) / 2). Each result
 * is the nearest pixel, or fill_value outside the image. Positions are computed
 * in 1/1024 pixel, with the start of a row and the steps along it rounded
 * separately, as in OpenCV's warpAffine. */
#include "data/image.h"

#include <string.h>

struct random_rotation {
    struct cr_reals degrees, center;
    struct cr_ints fill_value;
};

static const struct cr_opt random_rotation_opts[] = {
    CR_REALS(struct random_rotation, degrees, -360, 360,
             "Maximum angle in both directions, in degrees, or minimum and "
             "maximum."),
    CR_REALS_OPTIONAL(struct random_rotation, center, -CR_IMAGE_SIDE,
                      CR_IMAGE_SIDE,
                      "Centre of rotation, x and y. Default: the centre of the "
                      "image."),
    CR_INTS_OPTIONAL(
        struct random_rotation, fill_value, 0, 255,
        "Value of pixels from outside the image: a number, or one for each "
        "channel. Default: 0."),
    { 0 },
};

struct plan {
    struct cr_image image;
    double low, high, x, y;
    void *fill;
};

static bool random_rotation_plan(struct cr_transform_plan *p)
{
    const struct random_rotation *o = p->opts;
    struct plan *r = CR_NEW(p->arena, struct plan);

    p->self = r;
    if (!cr_image_of(p, "RandomRotation", &r->image) ||
        !cr_image_fill(p, "RandomRotation", &o->fill_value, &r->image,
                       &r->fill))
        return false;
    r->high = o->degrees.n > 0 ? o->degrees.v[o->degrees.n - 1] : 0;
    r->low = o->degrees.n == 1 ? -r->high : o->degrees.v[0];
    if (o->degrees.n > 2 || r->low > r->high)
        return cr_error(p->diag, p->pos, CR_E_OUT_OF_RANGE,
                        "RandomRotation: degrees: expected one number of at "
                        "least 0, or a minimum and a maximum");
    if (o->center.n != 0 && o->center.n != 2)
        return cr_error(p->diag, p->pos, CR_E_OUT_OF_RANGE,
                        "RandomRotation: center: expected x and y");
    r->x = o->center.n ? o->center.v[0] : (double)(r->image.w - 1) / 2;
    r->y = o->center.n ? o->center.v[1] : (double)(r->image.h - 1) / 2;
    return cr_image_resized(p, "RandomRotation", r->image.h, r->image.w);
}

static int64_t fixed(double v)
{
    return llrint(v * 1024);
}

static bool random_rotation_apply(struct cr_sample *s)
{
    const struct plan *r = s->plan->self;
    const struct cr_image *m = &r->image;
    double angle = r->low + (r->high - r->low) * cr_rng_double(&s->rng, 0);
    double a = cos(angle * (3.14159265358979323846 / 180));
    double b = sin(angle * (3.14159265358979323846 / 180));
    /* the rotation is (a b; -b a) (v - c) + c; this is its inverse */
    double dx = (1 - a) * r->x - b * r->y, dy = b * r->x + (1 - a) * r->y;
    double d = 1 / (a * a + b * b), ia = a * d, ib = -b * d, ic = b * d;
    double bx = -ia * dx - ib * dy, by = -ic * dx - ia * dy;
    char *to = s->y;
    int64_t i, j;

    for (i = 0; i < m->h; i++) {
        int64_t x = fixed(ib * (double)i + bx) + 512;
        int64_t y = fixed(ia * (double)i + by) + 512;

        for (j = 0; j < m->w; j++, to += m->pixel) {
            int64_t u = (x + fixed(ia * (double)j)) >> 10;
            int64_t v = (y + fixed(ic * (double)j)) >> 10;
            bool inside = u >= 0 && u < m->w && v >= 0 && v < m->h;

            memcpy(to,
                   inside ? (const char *)s->x +
                                (size_t)(v * m->w + u) * m->pixel
                          : r->fill,
                   m->pixel);
        }
    }
    return true;
}

const struct cr_transform cr_transform_random_rotation = {
    .about = {
        .name = "RandomRotation",
        .summary = "Rotates an image by a random angle.",
        .detail = "Images (height, width, channels) or (height, width); the "
                  "size does not change. Positive angles are "
                  "counter-clockwise. Nearest-neighbour interpolation, "
                  "bit-identical to MindSpore.",
        .example = "datapipe:\n"
                   "  image: [{RandomRotation: {degrees: 15}, only: train}]\n",
        .opts = random_rotation_opts,
        .size = sizeof(struct random_rotation),
    },
    .plan = random_rotation_plan,
    .apply = random_rotation_apply,
    .random = true,
};

/* RandomRotation: rotates by an angle uniform in [-d, d] or [min, max] degrees,
 * counter-clockwise, about the centre ((w - 1) / 2, (h - 1) / 2). Outside
 * the image pixels have fill_value. */
#include "data/warp.h"

struct random_rotation {
    struct cr_reals degrees, center;
    struct cr_ints fill_value;
    int resample;
};

static const struct cr_opt random_rotation_opts[] = {
    CR_REALS(struct random_rotation, degrees, -360, 360,
             "Maximum angle in both directions, in degrees, or minimum and "
             "maximum."),
    CR_ENUM_DEFAULT(struct random_rotation, resample, CR_WARP_NEAREST, CR_WARPS,
                    "Interpolation. NEAREST: the nearest pixel. LINEAR: "
                    "between four pixels of uint8."),
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
        !cr_warp_check(p, "RandomRotation", (enum cr_warp_by)o->resample) ||
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

static bool random_rotation_apply(struct cr_sample *s)
{
    const struct random_rotation *o = s->plan->opts;
    const struct plan *r = s->plan->self;
    double a[6];

    cr_warp_rotation(r->low + (r->high - r->low) * cr_rng_double(&s->rng, 0),
                     r->x, r->y, a);
    cr_warp(&r->image, s->x, a, (enum cr_warp_by)o->resample, r->fill, s->y);
    return true;
}

const struct cr_transform cr_transform_random_rotation = {
    .about = {
        .name = "RandomRotation",
        .summary = "Rotates an image by a random angle.",
        .detail = "Images (height, width, channels) or (height, width); the "
                  "size does not change. Positive angles are "
                  "counter-clockwise. Bit-identical to MindSpore.",
        .example = "datapipe:\n"
                   "  image: [{RandomRotation: {degrees: 15}, only: train}]\n",
        .opts = random_rotation_opts,
        .size = sizeof(struct random_rotation),
    },
    .plan = random_rotation_plan,
    .apply = random_rotation_apply,
    .random = true,
};

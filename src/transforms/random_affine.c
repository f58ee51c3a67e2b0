/* RandomAffine: a random rotation, translation, scale and shear of an image
 * about its centre, with all angles in degrees. */
#include "data/warp.h"

struct random_affine {
    struct cr_reals degrees, translate, scale, shear;
    int resample;
    struct cr_ints fill_value;
};

static const struct cr_opt random_affine_opts[] = {
    CR_REALS(struct random_affine, degrees, -360, 360,
             "Maximum rotation in both directions, or minimum and maximum; "
             "positive angles are clockwise."),
    CR_REALS_OPTIONAL(struct random_affine, translate, -1, 1,
                      "Minimum and maximum shift in x, and perhaps in y, as "
                      "fractions of width and height. Default: no shift."),
    CR_REALS_OPTIONAL(struct random_affine, scale, 0, 1000,
                      "Minimum and maximum scale. Default: 1."),
    CR_REALS_OPTIONAL(struct random_affine, shear, -180, 180,
                      "Maximum shear in x in both directions, or minimum and "
                      "maximum in x, and perhaps in y. Default: no shear."),
    CR_ENUM_DEFAULT(struct random_affine, resample, CR_WARP_NEAREST, CR_WARPS,
                    "Interpolation. NEAREST: the nearest pixel. LINEAR: "
                    "between four pixels of uint8."),
    CR_INTS_OPTIONAL(
        struct random_affine, fill_value, 0, 255,
        "Value of pixels from outside the image: a number, or one for each "
        "channel. Default: 0."),
    { 0 },
};

enum {
    DEGREES,
    SHIFT_X,
    SHIFT_Y,
    SCALE,
    SHEAR_X,
    SHEAR_Y,
    RANGES
};

struct plan {
    struct cr_image image;
    double range[RANGES][2];
    void *fill;
};

/* Reads `pairs` ranges, of which later ones may be missing; with `both` one
 * number d is the range [-d, d]. */
static bool random_affine_ranges(struct cr_transform_plan *p, const char *name,
                                 const struct cr_reals *given, int pairs,
                                 bool both, double (*to)[2])
{
    int i;

    if (both && given->n == 1 && given->v[0] >= 0) {
        to[0][0] = -given->v[0];
        to[0][1] = given->v[0];
        return true;
    }
    for (i = 0; i < given->n && given->n <= 2 * pairs; i++)
        to[i / 2][i % 2] = given->v[i];
    if (given->n % 2 == 0 && given->n <= 2 * pairs &&
        to[0][0] <= to[0][1] && (pairs == 1 || to[1][0] <= to[1][1]))
        return true;
    return cr_error(p->diag, p->pos, CR_E_OUT_OF_RANGE,
                    "RandomAffine: %s: expected %sa minimum and a maximum%s",
                    name, both ? "one number of at least 0, or " : "",
                    pairs == 2 ? ", in x or in x and y" : "");
}

static bool random_affine_plan(struct cr_transform_plan *p)
{
    const struct random_affine *o = p->opts;
    struct plan *r = CR_NEW(p->arena, struct plan);

    p->self = r;
    r->range[SCALE][0] = r->range[SCALE][1] = 1;
    return cr_image_of(p, "RandomAffine", &r->image) &&
           cr_warp_check(p, "RandomAffine", (enum cr_warp_by)o->resample) &&
           cr_image_fill(p, "RandomAffine", &o->fill_value, &r->image,
                         &r->fill) &&
           random_affine_ranges(p, "degrees", &o->degrees, 1, true,
                                &r->range[DEGREES]) &&
           random_affine_ranges(p, "translate", &o->translate, 2, false,
                                &r->range[SHIFT_X]) &&
           random_affine_ranges(p, "scale", &o->scale, 1, false,
                                &r->range[SCALE]) &&
           random_affine_ranges(p, "shear", &o->shear, 2, true,
                                &r->range[SHEAR_X]) &&
           cr_image_resized(p, "RandomAffine", r->image.h, r->image.w);
}

static bool random_affine_apply(struct cr_sample *s)
{
    const struct random_affine *o = s->plan->opts;
    const struct plan *r = s->plan->self;
    float v[RANGES];
    double a[6];
    int i;

    for (i = 0; i < RANGES; i++)
        v[i] = (float)(r->range[i][0] +
                       (r->range[i][1] - r->range[i][0]) *
                           cr_rng_double(&s->rng, (uint64_t)i));
    cr_warp_affine(&r->image,
                   &(struct cr_affine){
                       v[DEGREES],
                       v[SCALE],
                       { v[SHEAR_X], v[SHEAR_Y] },
                       { v[SHIFT_X] * (float)r->image.w,
                         v[SHIFT_Y] * (float)r->image.h },
                   },
                   a);
    cr_warp(&r->image, s->x, a, (enum cr_warp_by)o->resample, r->fill, s->y);
    return true;
}

const struct cr_transform cr_transform_random_affine = {
    .about = {
        .name = "RandomAffine",
        .summary = "Random rotation, shift, scale and shear of an image.",
        .detail = "Images (height, width, channels) or (height, width); the "
                  "size does not change. Bit-identical to MindSpore.",
        .example = "datapipe:\n"
                   "  image:\n"
                   "    - {RandomAffine: {degrees: 10, translate: [-0.1, 0.1, "
                   "-0.1, 0.1]}, only: train}\n",
        .opts = random_affine_opts,
        .size = sizeof(struct random_affine),
    },
    .plan = random_affine_plan,
    .apply = random_affine_apply,
    .random = true,
};

/* AutoAugment (Cubuk et al., 2019): one of the 25 policies that the paper
 * found for a data set, each two changes with a probability and a magnitude. */
#include "data/augment.h"

#include <string.h>

struct auto_augment {
    int policy, interpolation;
    struct cr_ints fill_value;
};

static const struct cr_opt auto_augment_opts[] = {
    CR_ENUM_DEFAULT(struct auto_augment, policy, 0, "IMAGENET|CIFAR10|SVHN",
                    "Data set whose policies to use."),
    CR_ENUM_DEFAULT(struct auto_augment, interpolation, CR_WARP_NEAREST,
                    CR_WARPS, "Interpolation of shear, shift and rotation."),
    CR_INTS_OPTIONAL(struct auto_augment, fill_value, 0, 255,
                     "Value of pixels from outside the image: a number, or one "
                     "for each channel. Default: 0."),
    { 0 },
};

static const struct cr_augment_range auto_augment_range = {
    0.3f, 150.0f / 331, 30, 0.9f, 4, 256
};

#define BINS 10
#define POLICIES 25

struct change {
    unsigned char op, tenths, bin; /* the probability in tenths */
};

#define AUTO_CONTRAST CR_AUG_AUTO_CONTRAST
#define BRIGHTNESS CR_AUG_BRIGHTNESS
#define COLOR CR_AUG_COLOR
#define CONTRAST CR_AUG_CONTRAST
#define EQUALIZE CR_AUG_EQUALIZE
#define INVERT CR_AUG_INVERT
#define POSTERIZE CR_AUG_POSTERIZE
#define ROTATE CR_AUG_ROTATE
#define SHARPNESS CR_AUG_SHARPNESS
#define SHEAR_X CR_AUG_SHEAR_X
#define SHEAR_Y CR_AUG_SHEAR_Y
#define SOLARIZE CR_AUG_SOLARIZE
#define TRANSLATE_X CR_AUG_TRANSLATE_X
#define TRANSLATE_Y CR_AUG_TRANSLATE_Y

static const struct change policies[3][POLICIES][2] = {
    {
        { { POSTERIZE, 4, 8 }, { ROTATE, 6, 9 } },
        { { SOLARIZE, 6, 5 }, { AUTO_CONTRAST, 6, 0 } },
        { { EQUALIZE, 8, 0 }, { EQUALIZE, 6, 0 } },
        { { POSTERIZE, 6, 7 }, { POSTERIZE, 6, 6 } },
        { { EQUALIZE, 4, 0 }, { SOLARIZE, 2, 4 } },
        { { EQUALIZE, 4, 0 }, { ROTATE, 8, 8 } },
        { { SOLARIZE, 6, 3 }, { EQUALIZE, 6, 0 } },
        { { POSTERIZE, 8, 5 }, { EQUALIZE, 10, 0 } },
        { { ROTATE, 2, 3 }, { SOLARIZE, 6, 8 } },
        { { EQUALIZE, 6, 0 }, { POSTERIZE, 4, 6 } },
        { { ROTATE, 8, 8 }, { COLOR, 4, 0 } },
        { { ROTATE, 4, 9 }, { EQUALIZE, 6, 0 } },
        { { EQUALIZE, 0, 0 }, { EQUALIZE, 8, 0 } },
        { { INVERT, 6, 0 }, { EQUALIZE, 10, 0 } },
        { { COLOR, 6, 4 }, { CONTRAST, 10, 8 } },
        { { ROTATE, 8, 8 }, { COLOR, 10, 2 } },
        { { COLOR, 8, 8 }, { SOLARIZE, 8, 7 } },
        { { SHARPNESS, 4, 7 }, { INVERT, 6, 0 } },
        { { SHEAR_X, 6, 5 }, { EQUALIZE, 10, 0 } },
        { { COLOR, 4, 0 }, { EQUALIZE, 6, 0 } },
        { { EQUALIZE, 4, 0 }, { SOLARIZE, 2, 4 } },
        { { SOLARIZE, 6, 5 }, { AUTO_CONTRAST, 6, 0 } },
        { { INVERT, 6, 0 }, { EQUALIZE, 10, 0 } },
        { { COLOR, 6, 4 }, { CONTRAST, 10, 8 } },
        { { EQUALIZE, 8, 0 }, { EQUALIZE, 6, 0 } },
    },
    {
        { { INVERT, 1, 0 }, { CONTRAST, 2, 6 } },
        { { ROTATE, 7, 2 }, { TRANSLATE_X, 3, 9 } },
        { { SHARPNESS, 8, 1 }, { SHARPNESS, 9, 3 } },
        { { SHEAR_Y, 5, 8 }, { TRANSLATE_Y, 7, 9 } },
        { { AUTO_CONTRAST, 5, 0 }, { EQUALIZE, 9, 0 } },
        { { SHEAR_Y, 2, 7 }, { POSTERIZE, 3, 7 } },
        { { COLOR, 4, 3 }, { BRIGHTNESS, 6, 7 } },
        { { SHARPNESS, 3, 9 }, { BRIGHTNESS, 7, 9 } },
        { { EQUALIZE, 6, 0 }, { EQUALIZE, 5, 0 } },
        { { CONTRAST, 6, 7 }, { SHARPNESS, 6, 5 } },
        { { COLOR, 7, 7 }, { TRANSLATE_X, 5, 8 } },
        { { EQUALIZE, 3, 0 }, { AUTO_CONTRAST, 4, 0 } },
        { { TRANSLATE_Y, 4, 3 }, { SHARPNESS, 2, 6 } },
        { { BRIGHTNESS, 9, 6 }, { COLOR, 2, 8 } },
        { { SOLARIZE, 5, 2 }, { INVERT, 0, 0 } },
        { { EQUALIZE, 2, 0 }, { AUTO_CONTRAST, 6, 0 } },
        { { EQUALIZE, 2, 0 }, { EQUALIZE, 6, 0 } },
        { { COLOR, 9, 9 }, { EQUALIZE, 6, 0 } },
        { { AUTO_CONTRAST, 8, 0 }, { SOLARIZE, 2, 8 } },
        { { BRIGHTNESS, 1, 3 }, { COLOR, 7, 0 } },
        { { SOLARIZE, 4, 5 }, { AUTO_CONTRAST, 9, 0 } },
        { { TRANSLATE_Y, 9, 9 }, { TRANSLATE_Y, 7, 9 } },
        { { AUTO_CONTRAST, 9, 0 }, { SOLARIZE, 8, 3 } },
        { { EQUALIZE, 8, 0 }, { INVERT, 1, 0 } },
        { { TRANSLATE_Y, 7, 9 }, { AUTO_CONTRAST, 9, 0 } },
    },
    {
        { { SHEAR_X, 9, 4 }, { INVERT, 2, 0 } },
        { { SHEAR_Y, 9, 8 }, { INVERT, 7, 0 } },
        { { EQUALIZE, 6, 0 }, { SOLARIZE, 6, 6 } },
        { { INVERT, 9, 0 }, { EQUALIZE, 6, 0 } },
        { { EQUALIZE, 6, 0 }, { ROTATE, 9, 3 } },
        { { SHEAR_X, 9, 4 }, { AUTO_CONTRAST, 8, 0 } },
        { { SHEAR_Y, 9, 8 }, { INVERT, 4, 0 } },
        { { SHEAR_Y, 9, 5 }, { SOLARIZE, 2, 6 } },
        { { INVERT, 9, 0 }, { AUTO_CONTRAST, 8, 0 } },
        { { EQUALIZE, 6, 0 }, { ROTATE, 9, 3 } },
        { { SHEAR_X, 9, 4 }, { SOLARIZE, 3, 3 } },
        { { SHEAR_Y, 8, 8 }, { INVERT, 7, 0 } },
        { { EQUALIZE, 9, 0 }, { TRANSLATE_Y, 6, 6 } },
        { { INVERT, 9, 0 }, { EQUALIZE, 6, 0 } },
        { { CONTRAST, 3, 3 }, { ROTATE, 8, 4 } },
        { { INVERT, 8, 0 }, { TRANSLATE_Y, 0, 2 } },
        { { SHEAR_Y, 7, 6 }, { SOLARIZE, 4, 8 } },
        { { INVERT, 6, 0 }, { ROTATE, 8, 4 } },
        { { SHEAR_Y, 3, 7 }, { TRANSLATE_X, 9, 3 } },
        { { SHEAR_X, 1, 6 }, { INVERT, 6, 0 } },
        { { SOLARIZE, 7, 2 }, { TRANSLATE_Y, 6, 7 } },
        { { SHEAR_Y, 8, 4 }, { INVERT, 8, 0 } },
        { { SHEAR_X, 7, 9 }, { TRANSLATE_Y, 8, 3 } },
        { { SHEAR_Y, 8, 5 }, { AUTO_CONTRAST, 7, 0 } },
        { { SHEAR_X, 7, 2 }, { INVERT, 1, 0 } },
    },
};

static bool auto_augment_plan(struct cr_transform_plan *p)
{
    const struct auto_augment *o = p->opts;
    struct cr_augmenter *r = CR_NEW(p->arena, struct cr_augmenter);

    r->range = &auto_augment_range;
    r->bins = BINS;
    r->interpolation = (enum cr_warp_by)o->interpolation;
    return cr_augment_plan(p, "AutoAugment", &o->fill_value, r);
}

static bool auto_augment_apply(struct cr_sample *s)
{
    const struct auto_augment *o = s->plan->opts;
    const struct change *c =
        policies[o->policy][cr_rng_below(&s->rng, 0, POLICIES)];
    uint64_t i;

    memcpy(s->y, s->x, cr_bytes(&s->plan->in));
    for (i = 0; i < 2; i++)
        if (cr_rng_double(&s->rng, 1 + 2 * i) * 10 < c[i].tenths)
            cr_augment_apply(s->plan->self, (enum cr_augment)c[i].op, c[i].bin,
                             cr_rng_below(&s->rng, 2 + 2 * i, 2) == 1, s->y,
                             s->scratch);
    return true;
}

const struct cr_transform cr_transform_auto_augment = {
    .about = {
        .name = "AutoAugment",
        .summary = "AutoAugment: a random policy learned for a data set.",
        .detail = "Images (height, width, 3) of uint8. A policy is two changes "
                  "of RandAugment or inversions, with MindSpore's "
                  "magnitudes.",
        .example = "datapipe:\n"
                   "  image: [{AutoAugment: {policy: CIFAR10}, only: train}]"
                   "\n",
        .opts = auto_augment_opts,
        .size = sizeof(struct auto_augment),
    },
    .plan = auto_augment_plan,
    .apply = auto_augment_apply,
    .random = true,
};

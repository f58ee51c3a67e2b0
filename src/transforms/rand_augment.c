/* RandAugment (Cubuk et al., 2020): num_ops random changes of the image, one
 * after another, of the same magnitude. */
#include "data/augment.h"

#include <string.h>

struct rand_augment {
    int64_t num_ops, magnitude, num_magnitude_bins;
    int interpolation;
    struct cr_ints fill_value;
};

static const struct cr_opt rand_augment_opts[] = {
    CR_INT_DEFAULT(struct rand_augment, num_ops, 2, 1, 100,
                   "Number of changes, each drawn from all."),
    CR_INT_DEFAULT(struct rand_augment, magnitude, 9, 0, 1000,
                   "Magnitude, from 0 (none) to num_magnitude_bins - 1."),
    CR_INT_DEFAULT(struct rand_augment, num_magnitude_bins, 31, 2, 1001,
                   "Number of magnitudes."),
    CR_ENUM_DEFAULT(struct rand_augment, interpolation, CR_WARP_NEAREST,
                    CR_WARPS, "Interpolation of shear, shift and rotation."),
    CR_INTS_OPTIONAL(struct rand_augment, fill_value, 0, 255,
                     "Value of pixels from outside the image: a number, or one "
                     "for each channel. Default: 0."),
    { 0 },
};

static const struct cr_augment_range rand_augment_range = {
    0.3f, 150.0f / 331, 30, 0.9f, 4, 255
};

static bool rand_augment_plan(struct cr_transform_plan *p)
{
    const struct rand_augment *o = p->opts;
    struct cr_augmenter *r = CR_NEW(p->arena, struct cr_augmenter);

    r->range = &rand_augment_range;
    r->bins = o->num_magnitude_bins;
    r->interpolation = (enum cr_warp_by)o->interpolation;
    if (o->magnitude >= o->num_magnitude_bins)
        return cr_error(p->diag, p->pos, CR_E_OUT_OF_RANGE,
                        "RandAugment: magnitude: found %lld, expected less "
                        "than num_magnitude_bins, %lld",
                        (long long)o->magnitude,
                        (long long)o->num_magnitude_bins);
    return cr_augment_plan(p, "RandAugment", &o->fill_value, r);
}

static bool rand_augment_apply(struct cr_sample *s)
{
    const struct rand_augment *o = s->plan->opts;
    int64_t i;

    memcpy(s->y, s->x, cr_bytes(&s->plan->in));
    for (i = 0; i < o->num_ops; i++) {
        uint64_t at = 2 * (uint64_t)i;
        enum cr_augment op =
            (enum cr_augment)cr_rng_below(&s->rng, at, CR_AUG_N);

        cr_augment_apply(s->plan->self, op, o->magnitude,
                         cr_rng_below(&s->rng, at + 1, 2) == 1, s->y,
                         s->scratch);
    }
    return true;
}

const struct cr_transform cr_transform_rand_augment = {
    .about = {
        .name = "RandAugment",
        .summary = "RandAugment: a few random changes of one magnitude.",
        .detail = "Images (height, width, 3) of uint8. Each change is one of "
                  "identity, shear and shift in x or y, rotation, brightness, "
                  "colour, contrast, sharpness, posterize, solarize, "
                  "autocontrast and equalize, with MindSpore's magnitudes.",
        .example = "datapipe:\n"
                   "  image: [{RandAugment: {magnitude: 9}, only: train}]\n",
        .opts = rand_augment_opts,
        .size = sizeof(struct rand_augment),
    },
    .plan = rand_augment_plan,
    .apply = rand_augment_apply,
    .random = true,
};

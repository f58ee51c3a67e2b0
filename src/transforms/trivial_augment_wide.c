/* TrivialAugmentWide (Mueller and Hutter, 2021): one random change of the
 * image, of a random magnitude. */
#include "data/augment.h"

#include <string.h>

struct trivial_augment {
    int64_t num_magnitude_bins;
    int interpolation;
    struct cr_ints fill_value;
};

static const struct cr_opt trivial_augment_opts[] = {
    CR_INT_DEFAULT(struct trivial_augment, num_magnitude_bins, 31, 2, 1001,
                   "Number of magnitudes."),
    CR_ENUM_DEFAULT(struct trivial_augment, interpolation, CR_WARP_NEAREST,
                    CR_WARPS, "Interpolation of shear, shift and rotation."),
    CR_INTS_OPTIONAL(struct trivial_augment, fill_value, 0, 255,
                     "Value of pixels from outside the image: a number, or one "
                     "for each channel. Default: 0."),
    { 0 },
};

static const struct cr_augment_range trivial_augment_range = {
    0.99f, 32, 135, 0.99f, 6, 255
};

static bool trivial_augment_plan(struct cr_transform_plan *p)
{
    const struct trivial_augment *o = p->opts;
    struct cr_augmenter *r = CR_NEW(p->arena, struct cr_augmenter);

    r->range = &trivial_augment_range;
    r->bins = o->num_magnitude_bins;
    r->interpolation = (enum cr_warp_by)o->interpolation;
    return cr_augment_plan(p, "TrivialAugmentWide", &o->fill_value, r);
}

static bool trivial_augment_apply(struct cr_sample *s)
{
    const struct cr_augmenter *r = s->plan->self;
    enum cr_augment op = (enum cr_augment)cr_rng_below(&s->rng, 0, CR_AUG_N);

    memcpy(s->y, s->x, cr_bytes(&s->plan->in));
    cr_augment_apply(r, op,
                     (int64_t)cr_rng_below(&s->rng, 1, (uint64_t)r->bins),
                     cr_rng_below(&s->rng, 2, 2) == 1, s->y, s->scratch);
    return true;
}

const struct cr_transform cr_transform_trivial_augment_wide = {
    .about = {
        .name = "TrivialAugmentWide",
        .summary = "TrivialAugment: one random change of random magnitude.",
        .detail = "Images (height, width, 3) of uint8. The changes are those "
                  "of RandAugment, with wider ranges.",
        .example = "datapipe:\n"
                   "  image: [{TrivialAugmentWide: {}, only: train}]\n",
        .opts = trivial_augment_opts,
        .size = sizeof(struct trivial_augment),
    },
    .plan = trivial_augment_plan,
    .apply = trivial_augment_apply,
    .random = true,
};

/*
 * The changes of an image from which AutoAugment, RandAugment and
 * TrivialAugmentWide choose, each with a magnitude from a number of bins.
 */
#ifndef CR_DATA_AUGMENT_H
#define CR_DATA_AUGMENT_H

#include "data/warp.h"

enum cr_augment {
    CR_AUG_IDENTITY,
    CR_AUG_SHEAR_X,
    CR_AUG_SHEAR_Y,
    CR_AUG_TRANSLATE_X,
    CR_AUG_TRANSLATE_Y,
    CR_AUG_ROTATE,
    CR_AUG_BRIGHTNESS,
    CR_AUG_COLOR,
    CR_AUG_CONTRAST,
    CR_AUG_SHARPNESS,
    CR_AUG_POSTERIZE,
    CR_AUG_SOLARIZE,
    CR_AUG_AUTO_CONTRAST,
    CR_AUG_EQUALIZE,
    CR_AUG_INVERT
};
#define CR_AUG_N CR_AUG_INVERT /* those that RandAugment chooses from */

/* Largest magnitudes. */
struct cr_augment_range {
    float shear;     /* tangent of the angle */
    float translate; /* fraction of the side; from 1 on: pixels */
    float rotate;    /* degrees */
    float factor;    /* f - 1 of brightness, colour, contrast, sharpness */
    float posterize; /* bits removed */
    float solarize;  /* the threshold of bin 0 */
};

struct cr_augmenter {
    struct cr_image image;
    const struct cr_augment_range *range;
    int64_t bins;
    enum cr_warp_by interpolation;
    void *fill;
};

/* Sets the image and fill of *to from plan->in, images of uint8 with 3
 * channels, plan->out and plan->scratch. False after reporting. */
bool cr_augment_plan(struct cr_transform_plan *plan, const char *name,
                     const struct cr_ints *fill, struct cr_augmenter *to);

/* Changes y. scratch has the size of the image. The sign is that of the
 * magnitudes that have one. */
void cr_augment_apply(const struct cr_augmenter *augmenter, enum cr_augment op,
                      int64_t bin, bool negative, unsigned char *y,
                      unsigned char *scratch);

#endif

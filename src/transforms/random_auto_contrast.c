/* RandomAutoContrast: stretches each channel to 0..255 with probability
 * prob. */
#include "data/enhance.h"

#include <string.h>

struct random_auto_contrast {
    int64_t cutoff;
    struct cr_ints ignore;
    double prob;
};

static const struct cr_opt random_auto_contrast_opts[] = {
    CR_INT_DEFAULT(struct random_auto_contrast, cutoff, 0, 0, 49,
                   "Percent of the smallest and of the largest values of a "
                   "channel that do not count for its range."),
    CR_INTS_OPTIONAL(struct random_auto_contrast, ignore, 0, 255,
                     "Values that do not count. Default: none."),
    CR_REAL_DEFAULT(struct random_auto_contrast, prob, 0.5, 0, 1,
                    "Probability of changing a sample."),
    { 0 },
};

static bool random_auto_contrast_plan(struct cr_transform_plan *p)
{
    struct cr_image *m = CR_NEW(p->arena, struct cr_image);

    p->self = m;
    p->out = p->in;
    return cr_image_of_bytes(p, "RandomAutoContrast", 0, m);
}

static bool random_auto_contrast_apply(struct cr_sample *s)
{
    const struct random_auto_contrast *o = s->plan->opts;
    const struct cr_image *m = s->plan->self;

    memcpy(s->y, s->x, cr_bytes(&s->plan->in));
    if (cr_rng_double(&s->rng, 0) < o->prob)
        cr_enhance_auto_contrast(s->y, m->h * m->w, m->c, o->cutoff,
                                 &o->ignore);
    return true;
}

const struct cr_transform cr_transform_random_auto_contrast = {
    .about = {
        .name = "RandomAutoContrast",
        .summary = "Maximises the contrast of an image at random.",
        .detail = "Images of uint8; bit-identical to MindSpore.",
        .example = "datapipe:\n"
                   "  image: [{RandomAutoContrast: {prob: 0.2}, only: "
                   "train}]\n",
        .opts = random_auto_contrast_opts,
        .size = sizeof(struct random_auto_contrast),
    },
    .plan = random_auto_contrast_plan,
    .apply = random_auto_contrast_apply,
    .random = true,
};

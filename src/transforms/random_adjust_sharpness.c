/* RandomAdjustSharpness: y = f x + (1 - f) s with probability prob, where s is
 * the image smoothed over 3 x 3 pixels. */
#include "data/enhance.h"

#include <string.h>

struct random_adjust_sharpness {
    double degree;
    double prob;
};

static const struct cr_opt random_adjust_sharpness_opts[] = {
    CR_REAL(struct random_adjust_sharpness, degree, 0, 1000,
            "Factor f; 0: a smooth image, 1: no change, 2: twice as sharp."),
    CR_REAL_DEFAULT(struct random_adjust_sharpness, prob, 0.5, 0, 1,
                    "Probability of changing a sample."),
    { 0 },
};

static bool random_adjust_sharpness_plan(struct cr_transform_plan *p)
{
    struct cr_image *m = CR_NEW(p->arena, struct cr_image);

    p->self = m;
    p->out = p->in;
    return cr_image_of_bytes(p, "RandomAdjustSharpness", 0, m);
}

static bool random_adjust_sharpness_apply(struct cr_sample *s)
{
    const struct random_adjust_sharpness *o = s->plan->opts;
    const struct cr_image *m = s->plan->self;

    memcpy(s->y, s->x, cr_bytes(&s->plan->in));
    if (cr_rng_double(&s->rng, 0) < o->prob)
        cr_enhance_sharpness(m, s->x, (float)o->degree, s->y);
    return true;
}

const struct cr_transform cr_transform_random_adjust_sharpness = {
    .about = {
        .name = "RandomAdjustSharpness",
        .summary = "Sharpens or smooths an image at random.",
        .detail = "Images of uint8; bit-identical to MindSpore.",
        .example = "datapipe:\n"
                   "  image: [{RandomAdjustSharpness: {degree: 2.0}, only: "
                   "train}]\n",
        .opts = random_adjust_sharpness_opts,
        .size = sizeof(struct random_adjust_sharpness),
    },
    .plan = random_adjust_sharpness_plan,
    .apply = random_adjust_sharpness_apply,
    .random = true,
};

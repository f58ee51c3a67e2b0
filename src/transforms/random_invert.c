/* RandomInvert: 255 - x with probability prob. */
#include "data/enhance.h"

#include <string.h>

struct random_invert {
    double prob;
};

static const struct cr_opt random_invert_opts[] = {
    CR_REAL_DEFAULT(struct random_invert, prob, 0.5, 0, 1,
                    "Probability of changing a sample."),
    { 0 },
};

static bool random_invert_plan(struct cr_transform_plan *p)
{
    struct cr_image *m = CR_NEW(p->arena, struct cr_image);

    p->self = m;
    p->out = p->in;
    return cr_image_of_bytes(p, "RandomInvert", 0, m);
}

static bool random_invert_apply(struct cr_sample *s)
{
    const struct random_invert *o = s->plan->opts;
    const struct cr_image *m = s->plan->self;

    memcpy(s->y, s->x, cr_bytes(&s->plan->in));
    if (cr_rng_double(&s->rng, 0) < o->prob)
        cr_enhance_solarize(s->y, m->h * m->w, m->c, 0, 255);
    return true;
}

const struct cr_transform cr_transform_random_invert = {
    .about = {
        .name = "RandomInvert",
        .summary = "Inverts the colours of an image at random.",
        .detail = "Images of uint8; bit-identical to MindSpore.",
        .example = "datapipe:\n"
                   "  image: [{RandomInvert: {prob: 0.2}, only: train}]\n",
        .opts = random_invert_opts,
        .size = sizeof(struct random_invert),
    },
    .plan = random_invert_plan,
    .apply = random_invert_apply,
    .random = true,
};

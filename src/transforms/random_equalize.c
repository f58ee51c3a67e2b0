/* RandomEqualize: histogram equalisation of each channel with probability prob:
 * the sums of its histogram become the values. */
#include "data/enhance.h"

#include <string.h>

struct random_equalize {
    double prob;
};

static const struct cr_opt random_equalize_opts[] = {
    CR_REAL_DEFAULT(struct random_equalize, prob, 0.5, 0, 1,
                    "Probability of changing a sample."),
    { 0 },
};

static bool random_equalize_plan(struct cr_transform_plan *p)
{
    struct cr_image *m = CR_NEW(p->arena, struct cr_image);

    p->self = m;
    p->out = p->in;
    return cr_image_of_bytes(p, "RandomEqualize", 0, m);
}

static bool random_equalize_apply(struct cr_sample *s)
{
    const struct random_equalize *o = s->plan->opts;
    const struct cr_image *m = s->plan->self;

    memcpy(s->y, s->x, cr_bytes(&s->plan->in));
    if (cr_rng_double(&s->rng, 0) < o->prob)
        cr_enhance_equalize(s->y, m->h * m->w, m->c);
    return true;
}

const struct cr_transform cr_transform_random_equalize = {
    .about = {
        .name = "RandomEqualize",
        .summary = "Equalises the histogram of an image at random.",
        .detail = "Images of uint8; bit-identical to MindSpore.",
        .example = "datapipe:\n"
                   "  image: [{RandomEqualize: {prob: 0.2}, only: train}]\n",
        .opts = random_equalize_opts,
        .size = sizeof(struct random_equalize),
    },
    .plan = random_equalize_plan,
    .apply = random_equalize_apply,
    .random = true,
};

/* RandomGrayscale: Grayscale with three channels, with probability prob. */
#include "data/enhance.h"

#include <string.h>

struct random_grayscale {
    double prob;
};

static const struct cr_opt random_grayscale_opts[] = {
    CR_REAL_DEFAULT(struct random_grayscale, prob, 0.1, 0, 1,
                    "Probability of changing a sample."),
    { 0 },
};

static bool random_grayscale_plan(struct cr_transform_plan *p)
{
    struct cr_image *m = CR_NEW(p->arena, struct cr_image);

    p->self = m;
    p->out = p->in;
    return cr_image_of_bytes(p, "RandomGrayscale", 3, m);
}

static bool random_grayscale_apply(struct cr_sample *s)
{
    const struct random_grayscale *o = s->plan->opts;
    const struct cr_image *m = s->plan->self;

    memcpy(s->y, s->x, cr_bytes(&s->plan->in));
    if (cr_rng_double(&s->rng, 0) < o->prob)
        cr_enhance_grayscale(s->y, m->h * m->w);
    return true;
}

const struct cr_transform cr_transform_random_grayscale = {
    .about = {
        .name = "RandomGrayscale",
        .summary = "Removes the colours of an image at random.",
        .detail = "Images (height, width, 3) of uint8, of which the channels "
                  "become equal; bit-identical to Pillow and MindSpore.",
        .example = "datapipe:\n"
                   "  image: [{RandomGrayscale: {prob: 0.2}, only: train}]\n",
        .opts = random_grayscale_opts,
        .size = sizeof(struct random_grayscale),
    },
    .plan = random_grayscale_plan,
    .apply = random_grayscale_apply,
    .random = true,
};

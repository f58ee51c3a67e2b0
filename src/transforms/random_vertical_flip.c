/* RandomVerticalFlip: swaps top and bottom with probability `prob`. */
#include "data/image.h"

#include <string.h>

struct flip {
    double prob;
};

static const struct cr_opt flip_opts[] = {
    CR_REAL_DEFAULT(struct flip, prob, 0.5, 0, 1,
                    "Probability of changing a "
                    "sample."),
    { 0 },
};

static bool flip_plan(struct cr_transform_plan *p)
{
    struct cr_image *m = CR_NEW(p->arena, struct cr_image);

    p->self = m;
    return cr_image_of(p, "RandomVerticalFlip", m);
}

static bool flip_apply(struct cr_sample *s)
{
    const struct flip *o = s->plan->opts;
    const struct cr_image *m = s->plan->self;
    size_t row = (size_t)m->w * m->pixel;
    int64_t i;

    if (cr_rng_double(&s->rng, 0) >= o->prob)
        memcpy(s->y, s->x, cr_bytes(&s->plan->in));
    else
        for (i = 0; i < m->h; i++)
            memcpy((char *)s->y + (size_t)i * row,
                   (const char *)s->x + (size_t)(m->h - 1 - i) * row, row);
    return true;
}

const struct cr_transform cr_transform_random_vertical_flip = {
    .about = {
        .name = "RandomVerticalFlip",
        .summary = "Mirrors an image vertically at random.",
        .detail = "Images (height, width, channels) or (height, width).",
        .example = "datapipe:\n"
                   "  image: [{RandomVerticalFlip: {prob: 0.5}, only: "
                   "train}]\n",
        .opts = flip_opts,
        .size = sizeof(struct flip),
    },
    .plan = flip_plan,
    .apply = flip_apply,
    .random = true,
};

/* RandomHorizontalFlip: swaps left and right with probability `prob`. */
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
    return cr_image_of(p, "RandomHorizontalFlip", m);
}

/* With a constant pixel size the compiler copies it in one or two moves. */
static inline void flip_rows(const struct cr_image *m, const char *x, char *y,
                             size_t pixel)
{
    int64_t i, j;

    for (i = 0; i < m->h; i++, x += (size_t)m->w * pixel)
        for (j = m->w - 1; j >= 0; j--, y += pixel)
            memcpy(y, x + (size_t)j * pixel, pixel);
}

static bool flip_apply(struct cr_sample *s)
{
    const struct flip *o = s->plan->opts;
    const struct cr_image *m = s->plan->self;

    if (cr_rng_double(&s->rng, 0) >= o->prob)
        memcpy(s->y, s->x, cr_bytes(&s->plan->in));
    else if (m->pixel == 1)
        flip_rows(m, s->x, s->y, 1);
    else if (m->pixel == 3)
        flip_rows(m, s->x, s->y, 3);
    else
        flip_rows(m, s->x, s->y, m->pixel);
    return true;
}

const struct cr_transform cr_transform_random_horizontal_flip = {
    .about = {
        .name = "RandomHorizontalFlip",
        .summary = "Mirrors an image horizontally at random.",
        .detail = "Images (height, width, channels) or (height, width).",
        .example = "datapipe:\n"
                   "  image: [{RandomHorizontalFlip: {prob: 0.5}, only: "
                   "train}]\n",
        .opts = flip_opts,
        .size = sizeof(struct flip),
    },
    .plan = flip_plan,
    .apply = flip_apply,
    .random = true,
};

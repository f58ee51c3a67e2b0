/* RandomPosterize: keeps the highest b bits of each value, b uniform in
 * `bits`. */
#include "data/enhance.h"

#include <string.h>

struct random_posterize {
    struct cr_ints bits;
};

static const struct cr_opt random_posterize_opts[] = {
    CR_INTS_OPTIONAL(struct random_posterize, bits, 1, 8,
                     "Number of bits to keep, or its minimum and maximum. "
                     "Default: 8, no change."),
    { 0 },
};

struct plan {
    struct cr_image image;
    int64_t low, high;
};

static bool random_posterize_plan(struct cr_transform_plan *p)
{
    const struct random_posterize *o = p->opts;
    const struct cr_ints *v = &o->bits;
    struct plan *r = CR_NEW(p->arena, struct plan);

    p->self = r;
    p->out = p->in;
    r->low = v->n ? v->v[0] : 8;
    r->high = v->n ? v->v[v->n - 1] : 8;
    if (v->n > 2 || r->low > r->high)
        return cr_error(p->diag, p->pos, CR_E_OUT_OF_RANGE,
                        "RandomPosterize: bits: expected one number, or a "
                        "minimum and a maximum");
    return cr_image_of_bytes(p, "RandomPosterize", 0, &r->image);
}

static bool random_posterize_apply(struct cr_sample *s)
{
    const struct plan *r = s->plan->self;
    const struct cr_image *m = &r->image;
    uint64_t n = (uint64_t)(r->high - r->low + 1);
    int64_t bits = r->low + (int64_t)cr_rng_below(&s->rng, 0, n);

    memcpy(s->y, s->x, cr_bytes(&s->plan->in));
    cr_enhance_posterize(s->y, m->h * m->w, m->c, (int)bits);
    return true;
}

const struct cr_transform cr_transform_random_posterize = {
    .about = {
        .name = "RandomPosterize",
        .summary = "Reduces the number of bits of the colours.",
        .detail = "Images of uint8.",
        .example = "datapipe:\n"
                   "  image: [{RandomPosterize: {bits: [4, 8]}, only: "
                   "train}]\n",
        .opts = random_posterize_opts,
        .size = sizeof(struct random_posterize),
    },
    .plan = random_posterize_plan,
    .apply = random_posterize_apply,
    .random = true,
};

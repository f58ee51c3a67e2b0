/* RandomSolarize: 255 - x for x in a random range: two thresholds are drawn
 * from `threshold`; of equal ones the second is 255. */
#include "data/enhance.h"

#include <string.h>

struct random_solarize {
    struct cr_ints threshold;
};

static const struct cr_opt random_solarize_opts[] = {
    CR_INTS_OPTIONAL(struct random_solarize, threshold, 0, 255,
                     "Minimum and maximum of the thresholds, or one threshold "
                     "from which on values are inverted. Default: 0, 255."),
    { 0 },
};

struct plan {
    struct cr_image image;
    int64_t low, high;
};

static bool random_solarize_plan(struct cr_transform_plan *p)
{
    const struct random_solarize *o = p->opts;
    const struct cr_ints *v = &o->threshold;
    struct plan *r = CR_NEW(p->arena, struct plan);

    p->self = r;
    p->out = p->in;
    r->low = v->n ? v->v[0] : 0;
    r->high = v->n ? v->v[v->n - 1] : 255;
    if (v->n > 2 || r->low > r->high)
        return cr_error(p->diag, p->pos, CR_E_OUT_OF_RANGE,
                        "RandomSolarize: threshold: expected one number, or a "
                        "minimum and a maximum");
    return cr_image_of_bytes(p, "RandomSolarize", 0, &r->image);
}

static bool random_solarize_apply(struct cr_sample *s)
{
    const struct plan *r = s->plan->self;
    const struct cr_image *m = &r->image;
    uint64_t n = (uint64_t)(r->high - r->low + 1);
    int64_t a = r->low + (int64_t)cr_rng_below(&s->rng, 0, n);
    int64_t b = r->low + (int64_t)cr_rng_below(&s->rng, 1, n);

    memcpy(s->y, s->x, cr_bytes(&s->plan->in));
    cr_enhance_solarize(s->y, m->h * m->w, m->c, (double)(a < b ? a : b),
                        a == b ? 255 : (double)(a > b ? a : b));
    return true;
}

const struct cr_transform cr_transform_random_solarize = {
    .about = {
        .name = "RandomSolarize",
        .summary = "Inverts the values in a random range.",
        .detail = "Images of uint8.",
        .example = "datapipe:\n"
                   "  image: [{RandomSolarize: {threshold: [100, 200]}, only: "
                   "train}]\n",
        .opts = random_solarize_opts,
        .size = sizeof(struct random_solarize),
    },
    .plan = random_solarize_plan,
    .apply = random_solarize_apply,
    .random = true,
};

/* HeNormal: N(0, s^2), s = gain / sqrt(fan). */
#include "graph/init.h"

static bool he_normal_fill(const struct cr_init_args *f)
{
    int64_t i, count = cr_count(&f->spec);
    double scale;

    if (!cr_he_scale(f, &scale))
        return false;
    for (i = 0; f->to && i < count; i++)
        f->to[i] = (cr_real)(scale * cr_rng_normal(&f->rng, (uint64_t)i));
    return true;
}

const struct cr_init cr_init_he_normal = {
    .about = {
        .name = "HeNormal",
        .summary = "He normal: N(0, s^2), s = gain / sqrt(fan).",
        .example = "init: [{match: \"*.weight\", HeNormal: {}}]\n",
        .opts = cr_he_opts,
        .size = sizeof(struct cr_he),
    },
    .alias = "he_normal",
    .fill = he_normal_fill,
};

/* HeUniform: U(-a, a), a = gain sqrt(3 / fan). */
#include "graph/init.h"

static bool he_uniform_fill(const struct cr_init_args *f)
{
    int64_t i, count = cr_count(&f->spec);
    double scale;

    if (!cr_he_scale(f, &scale))
        return false;
    for (i = 0; f->to && i < count; i++)
        f->to[i] = (cr_real)(sqrt(3) * scale *
                             (2 * cr_rng_double(&f->rng, (uint64_t)i) - 1));
    return true;
}

const struct cr_init cr_init_he_uniform = {
    .about = {
        .name = "HeUniform",
        .summary = "He uniform: U(-a, a), a = gain sqrt(3 / fan).",
        .example = "init: [{match: \"*.weight\", HeUniform: {}}]\n",
        .opts = cr_he_opts,
        .size = sizeof(struct cr_he),
    },
    .alias = "he_uniform",
    .fill = he_uniform_fill,
};

/* Uniform: U(-scale, scale). */
#include "graph/init.h"

struct uniform {
    double scale;
};

static const struct cr_opt uniform_opts[] = {
    CR_REAL_DEFAULT(struct uniform, scale, 0.07, 0, 1e30, "Half the width of "
                                                          "the interval."),
    { 0 },
};

static bool uniform_fill(const struct cr_init_args *f)
{
    const struct uniform *o = f->opts;
    int64_t i, count = cr_count(&f->spec);

    for (i = 0; f->to && i < count; i++)
        f->to[i] = (cr_real)(o->scale *
                             (2 * cr_rng_double(&f->rng, (uint64_t)i) - 1));
    return true;
}

const struct cr_init cr_init_uniform = {
    .about = {
        .name = "Uniform",
        .summary = "Uniform distribution: U(-scale, scale).",
        .example = "init: [{match: \"*\", Uniform: {}}]\n",
        .opts = uniform_opts,
        .size = sizeof(struct uniform),
    },
    .alias = "uniform",
    .fill = uniform_fill,
};

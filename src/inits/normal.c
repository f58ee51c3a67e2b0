/* Normal: N(mean, sigma^2). */
#include "graph/init.h"

struct normal {
    double sigma, mean;
};

static const struct cr_opt normal_opts[] = {
    CR_REAL_DEFAULT(struct normal, sigma, 0.01, 0, 1e30, "Standard deviation."),
    CR_REAL_DEFAULT(struct normal, mean, 0, -1e30, 1e30, "Mean."),
    { 0 },
};

static bool normal_fill(const struct cr_init_args *f)
{
    const struct normal *o = f->opts;
    int64_t i, count = cr_count(&f->spec);

    for (i = 0; f->to && i < count; i++)
        f->to[i] = (cr_real)(o->mean +
                             o->sigma * cr_rng_normal(&f->rng, (uint64_t)i));
    return true;
}

const struct cr_init cr_init_normal = {
    .about = {
        .name = "Normal",
        .summary = "Normal distribution: N(mean, sigma^2).",
        .example = "init: [{match: \"*\", Normal: {}}]\n",
        .opts = normal_opts,
        .size = sizeof(struct normal),
    },
    .alias = "normal",
    .fill = normal_fill,
};

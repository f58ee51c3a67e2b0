/* XavierNormal: N(0, s^2), s = gain sqrt(2 / (fan_in + fan_out)).
 * Glorot and Bengio, "Understanding the difficulty of training deep
 * feedforward neural networks", AISTATS 2010. */
#include "graph/init.h"

struct xavier_normal {
    double gain;
};

static const struct cr_opt xavier_normal_opts[] = {
    CR_REAL_DEFAULT(struct xavier_normal, gain, 1, 0, 1e30, "Factor."),
    { 0 },
};

static bool xavier_normal_fill(const struct cr_init_args *f)
{
    const struct xavier_normal *o = f->opts;
    int64_t i, count = cr_count(&f->spec);
    double in, out;

    if (!cr_fan(f, &in, &out))
        return false;
    for (i = 0; f->to && i < count; i++)
        f->to[i] = (cr_real)(o->gain * sqrt(2 / (in + out)) *
                             cr_rng_normal(&f->rng, (uint64_t)i));
    return true;
}

const struct cr_init cr_init_xavier_normal = {
    .about = {
        .name = "XavierNormal",
        .summary = "Xavier normal: N(0, s^2), s = gain sqrt(2 / (fan_in + "
                   "fan_out)).",
        .example = "init: [{match: \"*.weight\", XavierNormal: {}}]\n",
        .opts = xavier_normal_opts,
        .size = sizeof(struct xavier_normal),
    },
    .alias = "xavier_normal",
    .fill = xavier_normal_fill,
};

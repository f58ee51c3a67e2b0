/* XavierUniform: U(-a, a), a = gain sqrt(6 / (fan_in + fan_out)).
 * Glorot and Bengio, "Understanding the difficulty of training deep
 * feedforward neural networks", AISTATS 2010. */
#include "graph/init.h"

struct xavier_uniform {
    double gain;
};

static const struct cr_opt xavier_uniform_opts[] = {
    CR_REAL_DEFAULT(struct xavier_uniform, gain, 1, 0, 1e30, "Factor."),
    { 0 },
};

static bool xavier_uniform_fill(const struct cr_init_args *f)
{
    const struct xavier_uniform *o = f->opts;
    int64_t i, count = cr_count(&f->spec);
    double in, out;

    if (!cr_fan(f, &in, &out))
        return false;
    for (i = 0; f->to && i < count; i++)
        f->to[i] = (cr_real)(o->gain * sqrt(6 / (in + out)) *
                             (2 * cr_rng_double(&f->rng, (uint64_t)i) - 1));
    return true;
}

const struct cr_init cr_init_xavier_uniform = {
    .about = {
        .name = "XavierUniform",
        .summary = "Xavier uniform: U(-a, a), a = gain sqrt(6 / (fan_in + "
                   "fan_out)).",
        .example = "init: [{match: \"*.weight\", XavierUniform: {}}]\n",
        .opts = xavier_uniform_opts,
        .size = sizeof(struct xavier_uniform),
    },
    .alias = "xavier_uniform",
    .fill = xavier_uniform_fill,
};

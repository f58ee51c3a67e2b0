/* HeUniform: U(-a, a), a = gain sqrt(3 / fan).
 * He et al., "Delving deep into rectifiers", ICCV 2015. */
#include "net/init.h"

struct he_uniform {
    double negative_slope;
    int mode;
    const char *nonlinearity;
};

enum { FAN_IN, FAN_OUT };

static const struct cr_opt he_uniform_opts[] = {
    CR_REAL_OR(struct he_uniform, negative_slope, 0, -1e30, 1e30,
               "Slope of leaky_relu below zero."),
    CR_ENUM_OR(struct he_uniform, mode, FAN_IN, "fan_in|fan_out",
               "Which fan keeps its variance."),
    CR_STR_OR(struct he_uniform, nonlinearity, "leaky_relu",
              "What follows, which sets the gain: linear, sigmoid, tanh, "
              "relu, leaky_relu."),
    { 0 },
};

static bool he_uniform_fill(const struct cr_fill *f)
{
    const struct he_uniform *o = f->opts;
    double in, out, fan, gain = cr_gain(o->nonlinearity, o->negative_slope);
    int64_t i, count = cr_count(&f->spec);

    if (isnan(gain))
        return cr_error(f->diag, f->pos, CR_E_UNKNOWN_TYPE,
                        "there is no gain for nonlinearity '%s'",
                        o->nonlinearity);
    if (!cr_fan(f, &in, &out))
        return false;
    fan = o->mode == FAN_IN ? in : out;
    for (i = 0; f->to && i < count; i++)
        f->to[i] = (cr_real)(gain * sqrt(3 / fan) *
                             (2 * cr_rng_double(&f->rng, (uint64_t)i) - 1));
    return true;
}

const struct cr_init cr_init_he_uniform = {
    .about = {
        .name = "HeUniform",
        .summary = "U(-a, a), a = gain sqrt(3 / fan).",
        .example = "init: [{match: \"*.weight\", HeUniform: {}}]\n",
        .opts = he_uniform_opts,
        .size = sizeof(struct he_uniform),
    },
    .alias = "he_uniform",
    .fill = he_uniform_fill,
};

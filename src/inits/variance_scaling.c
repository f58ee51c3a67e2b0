/* VarianceScaling: values of variance scale / fan.
 *
 * MindSpore documents truncated_normal as the default, but its code compares
 * with the name truncated_norm and uses the uniform distribution instead (still
 * in 2.10.0). This is the documented default: N(0, s^2) truncated at 2 s, with
 * s = sqrt(scale / fan) / 0.87962566, the standard deviation of N(0, 1)
 * truncated at 2, so that the variance after truncation is scale / fan. */
#include "graph/init.h"

struct variance_scaling {
    double scale;
    int mode, distribution;
};

enum { FAN_IN, FAN_OUT, FAN_AVG };
enum { TRUNCATED, UNTRUNCATED, UNIFORM };

static const struct cr_opt variance_scaling_opts[] = {
    CR_REAL_POS_DEFAULT(struct variance_scaling, scale, 1, 1e30, "Factor."),
    CR_ENUM_DEFAULT(struct variance_scaling, mode, FAN_IN,
                    "fan_in|fan_out|fan_avg", "The fan by which scale is "
                                              "divided."),
    CR_ENUM_DEFAULT(struct variance_scaling, distribution, TRUNCATED,
                    "truncated_normal|untruncated_normal|uniform",
                    "Shape of the distribution."),
    { 0 },
};

#define CUT_DEVIATION 0.87962566103423978

static bool variance_scaling_fill(const struct cr_init_args *f)
{
    const struct variance_scaling *o = f->opts;
    int64_t i, count = cr_count(&f->spec);
    double in, out, fan, variance;

    if (!cr_fan(f, &in, &out))
        return false;
    fan = o->mode == FAN_IN ? in : o->mode == FAN_OUT ? out : (in + out) / 2;
    variance = o->scale / (fan < 1 ? 1 : fan);
    for (i = 0; f->to && i < count; i++) {
        struct cr_rng rng = f->rng;
        double v;

        if (o->distribution == UNIFORM)
            v = sqrt(3 * variance) *
                (2 * cr_rng_double(&rng, (uint64_t)i) - 1);
        else if (o->distribution == UNTRUNCATED)
            v = sqrt(variance) * cr_rng_normal(&rng, (uint64_t)i);
        else
            do {
                v = cr_rng_normal(&rng, (uint64_t)i);
                rng.b++;
                if (v >= -2 && v <= 2) {
                    v *= sqrt(variance) / CUT_DEVIATION;
                    break;
                }
            } while (true);
        f->to[i] = (cr_real)v;
    }
    return true;
}

const struct cr_init cr_init_variance_scaling = {
    .about = {
        .name = "VarianceScaling",
        .summary = "Variance scaling: random values of variance scale / fan.",
        .example = "init: [{match: \"*.weight\", VarianceScaling: {scale: "
                   "2.0, mode: fan_out}}]\n",
        .opts = variance_scaling_opts,
        .size = sizeof(struct variance_scaling),
    },
    .alias = "variancescaling",
    .fill = variance_scaling_fill,
};

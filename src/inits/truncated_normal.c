/* TruncatedNormal: N(mean, sigma^2) between a and b, by rejection. The
 * distribution is that of MindSpore, which inverts the cumulative one. */
#include "graph/init.h"

struct truncated_normal {
    double sigma, mean, a, b;
};

static const struct cr_opt truncated_normal_opts[] = {
    CR_REAL_DEFAULT(struct truncated_normal, sigma, 0.01, 0, 1e30,
                    "Standard deviation."),
    CR_REAL_DEFAULT(struct truncated_normal, mean, 0, -1e30, 1e30, "Mean."),
    CR_REAL_DEFAULT(struct truncated_normal, a, -2, -1e30, 1e30,
                    "Minimum, as a value (not in units of sigma)."),
    CR_REAL_DEFAULT(struct truncated_normal, b, 2, -1e30, 1e30,
                    "Maximum, as a value."),
    { 0 },
};

#define TRIES 10000

static bool truncated_normal_fill(const struct cr_init_args *f)
{
    const struct truncated_normal *o = f->opts;
    int64_t i, count = cr_count(&f->spec);

    if (!(o->a < o->b))
        return cr_error(f->diag, f->pos, CR_E_OUT_OF_RANGE,
                        "TruncatedNormal: found a = %g, expected a number "
                        "below b = %g",
                        o->a, o->b);
    /* rejection needs a reasonable acceptance rate */
    if (0.5 * (erf((o->b - o->mean) / o->sigma / sqrt(2)) -
               erf((o->a - o->mean) / o->sigma / sqrt(2))) < 1e-2)
        return cr_error(f->diag, f->pos, CR_E_OUT_OF_RANGE,
                        "TruncatedNormal: [%g, %g] contains less than 1%% of "
                        "N(%g, %g^2)",
                        o->a, o->b, o->mean, o->sigma);
    for (i = 0; f->to && i < count; i++) {
        struct cr_rng rng = f->rng;
        double v = o->mean;
        int k;

        for (k = 0; k < TRIES; k++) {
            rng.b = f->rng.b + (uint64_t)k;
            v = o->mean + o->sigma * cr_rng_normal(&rng, (uint64_t)i);
            if (v >= o->a && v <= o->b)
                break;
        }
        f->to[i] = (cr_real)v;
    }
    return true;
}

const struct cr_init cr_init_truncated_normal = {
    .about = {
        .name = "TruncatedNormal",
        .summary = "Truncated normal: N(mean, sigma^2) between a and b.",
        .detail = "a and b are values, as in MindSpore since 2.0: with the "
                  "defaults practically nothing is truncated.",
        .example = "init: [{match: \"*.weight\", TruncatedNormal: {sigma: "
                   "0.02, a: -0.04, b: 0.04}}]\n",
        .opts = truncated_normal_opts,
        .size = sizeof(struct truncated_normal),
    },
    .alias = "truncatednormal",
    .fill = truncated_normal_fill,
};

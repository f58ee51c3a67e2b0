/*
 * r2: the coefficient of determination, 1 - sum (y - x)^2 / sum (y - mean y)^2
 * over the samples, for each output; the result is their unweighted mean, as
 * scikit-learn's r2_score. A constant label gives 1 if all outputs equal it,
 * else 0.
 */
#include <math.h>

#include "score/metric.h"

struct r2_of {
    double mean, spread;        /* of the labels: mean, sum of squared
                                   deviations (Welford) */
    double error;               /* sum of squared errors */
};

struct r2 {
    int64_t n, width;           /* samples; outputs per sample */
    struct r2_of *of;
};

static size_t r2_size(const void *opts, int64_t classes)
{
    (void)opts;
    (void)classes;
    return sizeof(struct r2);
}

static void r2_add(const void *opts, void *state, int64_t classes,
                   const struct cr_metric_batch *batch)
{
    struct r2 *all = state;
    int64_t samples = batch->spec->dim[0];

    (void)opts;
    (void)classes;
    if (!all->of) {
        all->width = cr_count(batch->spec) / samples;
        all->of = CR_NEWS(batch->mem, struct r2_of, all->width + 1);
    }
    for (int64_t i = 0; i < samples; i++) {
        all->n++;
        for (int64_t k = 0; k < all->width; k++) {
            int64_t at = i * all->width + k;
            double y = cr_metric_target(batch, at);
            double e = y - (double)batch->output[at];
            double d = y - all->of[k].mean;

            all->of[k].mean += d / (double)all->n;
            all->of[k].spread += d * (y - all->of[k].mean);
            all->of[k].error += e * e;
        }
    }
}

static double r2_value(const void *opts, const void *state, int64_t classes)
{
    const struct r2 *all = state;
    double sum = 0;

    (void)opts;
    (void)classes;
    if (all->n < 2)
        return (double)NAN;
    for (int64_t k = 0; k < all->width; k++) {
        const struct r2_of *of = &all->of[k];

        if (of->spread > 0)
            sum += 1 - of->error / of->spread;
        else
            sum += of->error > 0 ? 0 : of->error == 0 ? 1 : (double)NAN;
    }
    return sum / (double)all->width;
}

const struct cr_metric cr_metric_r2 = {
    .about = {
        .name = "r2",
        .summary = "R2: coefficient of determination.",
        .detail = "1 - sum (label - output)^2 / sum (label - mean label)^2 for "
                  "each output, and the mean of these: 1 is perfect, 0 is as "
                  "good as predicting the mean label. Needs two samples.",
        .example = "metrics: [r2, mae]\n",
    },
    .maximize = true,
    .compares = true,
    .size = r2_size,
    .add = r2_add,
    .value = r2_value,
};

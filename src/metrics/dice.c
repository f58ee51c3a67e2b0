/*
 * Dice: 2 sum(x y) / (sum(x x) + sum(y y) + smooth) of each sample, and the
 * mean over all samples.
 *
 * MindSpore treats a batch as one sample and divides the sum over the batches
 * by the number of samples, so its result depends on the batch size. With
 * batches of one sample it equals this one.
 */
#include "score/metric.h"

struct dice {
    double smooth;
};

static const struct cr_opt dice_opts[] = {
    CR_REAL_POS_DEFAULT(struct dice, smooth, 1e-5, DBL_MAX,
                        "Added to the denominator for numerical stability."),
    { 0 },
};

static void dice_add(const void *opts, void *state, int64_t classes,
                     const struct cr_metric_batch *batch)
{
    const struct dice *o = opts;
    struct cr_metric_mean *mean = state;
    int64_t samples = batch->spec->dim[0];
    int64_t n = cr_count(batch->spec) / samples;

    (void)classes;
    for (int64_t i = 0; i < samples; i++) {
        double both = 0, all = o->smooth;

        for (int64_t k = i * n; k < (i + 1) * n; k++) {
            double x = (double)batch->output[k], y = cr_metric_target(batch, k);

            both += x * y;
            all += x * x + y * y;
        }
        mean->sum += 2 * both / all;
    }
    mean->all += samples;
}

const struct cr_metric cr_metric_dice = {
    .about = {
        .name = "dice",
        .aliases = CR_ALIASES("Dice"),
        .summary = "Dice coefficient: overlap of output and label, from 0 to "
                   "1.",
        .detail = "2 sum(x y) / (sum(x x) + sum(y y) + smooth) of each sample, "
                  "averaged over all samples. Labels have the shape of the "
                  "output.",
        .example = "metrics: [loss, {Dice: {smooth: 1e-5}}]\n",
        .opts = dice_opts,
        .size = sizeof(struct dice),
    },
    .maximize = true,
    .compares = true,
    .size = cr_metric_mean_size,
    .add = dice_add,
    .value = cr_metric_mean_value,
};

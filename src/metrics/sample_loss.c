/* sample_loss: the mean of the batches' losses, each weighted by the samples
 * of the batch. */
#include "train/metric.h"

static void sample_loss_add(const void *opts, void *state, int64_t classes,
                            const struct cr_metric_batch *batch)
{
    struct cr_metric_mean *mean = state;

    (void)opts;
    (void)classes;
    mean->sum += batch->loss * (double)batch->samples;
    mean->all += batch->samples;
}

const struct cr_metric cr_metric_sample_loss = {
    .about = {
        .name = "sample_loss",
        .summary = "Mean of the losses of all samples.",
        .detail = "Each batch counts by its number of samples, so a short "
                  "last batch makes no difference where the loss is a mean "
                  "over samples (reduction mean, no weights of classes).",
        .example = "metrics: [loss, sample_loss]\n",
    },
    .size = cr_metric_mean_size,
    .add = sample_loss_add,
    .value = cr_metric_mean_value,
};

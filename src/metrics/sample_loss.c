/* sample_loss: the mean of the losses of the batches, weighted by their numbers
 * of samples. */
#include "score/metric.h"

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
        .summary = "Mean loss over the samples.",
        .detail = "Each batch is weighted by its number of samples, so a "
                  "smaller last batch makes no difference if the loss is a "
                  "mean over samples (reduction mean, no class weights).",
        .example = "metrics: [loss, sample_loss]\n",
    },
    .size = cr_metric_mean_size,
    .add = sample_loss_add,
    .value = cr_metric_mean_value,
};

/* loss: the mean of the losses of the batches, each with the same weight
 * whatever its size, as MindSpore's Loss. */
#include "score/metric.h"

struct loss {
    double sum;
    int64_t batches;
};

static size_t loss_size(const void *opts, int64_t classes)
{
    (void)opts;
    (void)classes;
    return sizeof(struct loss);
}

static void loss_add(const void *opts, void *state, int64_t classes,
                     const struct cr_metric_batch *batch)
{
    struct loss *loss = state;

    (void)opts;
    (void)classes;
    loss->sum += batch->loss;
    loss->batches++;
}

static double loss_value(const void *opts, const void *state, int64_t classes)
{
    const struct loss *loss = state;

    (void)opts;
    (void)classes;
    return loss->sum / (double)loss->batches;
}

const struct cr_metric cr_metric_loss = {
    .about = {
        .name = "loss",
        .aliases = CR_ALIASES("Loss"),
        .summary = "Mean loss over the batches.",
        .detail = "Each batch has the same weight, as in MindSpore, so with a "
                  "smaller last batch the result is not the mean over the "
                  "samples; sample_loss is.",
        .example = "metrics: [loss]\n",
    },
    .size = loss_size,
    .add = loss_add,
    .value = loss_value,
};

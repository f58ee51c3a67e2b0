/* bits_per_char: the mean of -log2 p over all labels, with p the softmax of the
 * output at the label. It is the length of an ideal code per character. */
#include "score/metric.h"

#include <math.h>

static void bits_add(const void *opts, void *state, int64_t classes,
                     const struct cr_metric_batch *batch)
{
    (void)opts;
    (void)classes;
    cr_metric_nll_add(state, 0, CR_INT_NONE, batch);
}

static double bits_value(const void *opts, const void *state, int64_t classes)
{
    const struct cr_metric_nll *nats = state;

    (void)opts;
    (void)classes;
    return nats->sum / (double)nats->all / log(2);
}

const struct cr_metric cr_metric_bits_per_char = {
    .about = {
        .name = "bits_per_char",
        .summary = "Bits per character: mean of -log2 p of the labels.",
        .detail = "p is the softmax of the output at the label, or the output "
                  "itself if the network ends in Softmax or Sigmoid and the "
                  "loss does not expect logits. Labels outside the classes "
                  "(ignore_index) are ignored.",
        .example = "metrics: [loss, bits_per_char]\n",
    },
    .classifies = true,
    .exclusive = true,
    .size = cr_metric_nll_size,
    .add = bits_add,
    .value = bits_value,
};

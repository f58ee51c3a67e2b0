/* perplexity: exp of the mean of -ln max(p, 1e-10), with p the softmax of the
 * output at the label (MindSpore's Perplexity expects p itself). All labels
 * have the same weight, whatever the sizes of their batches. */
#include "score/metric.h"

#include <math.h>

struct perplexity {
    int64_t ignore_label;
};

static const struct cr_opt perplexity_opts[] = {
    CR_INT_OPTIONAL(struct perplexity, ignore_label, INT32_MIN, INT32_MAX,
                    "Labels of this value are ignored."),
    { 0 },
};

static void perplexity_add(const void *opts, void *state, int64_t classes,
                           const struct cr_metric_batch *batch)
{
    const struct perplexity *o = opts;

    (void)classes;
    cr_metric_nll_add(state, 1e-10, o->ignore_label, batch);
}

static double perplexity_value(const void *opts, const void *state,
                               int64_t classes)
{
    const struct cr_metric_nll *nats = state;

    (void)opts;
    (void)classes;
    return exp(nats->sum / (double)nats->all);
}

const struct cr_metric cr_metric_perplexity = {
    .about = {
        .name = "perplexity",
        .aliases = CR_ALIASES("Perplexity"),
        .summary = "Perplexity: exp of the mean negative log-likelihood of the "
                   "labels.",
        .detail = "p is the softmax of the output at the label, or the output "
                  "itself if the network ends in Softmax or Sigmoid and the "
                  "loss does not expect logits. p is at least 1e-10. Labels "
                  "outside the classes (ignore_index) are ignored.",
        .example = "metrics: [loss, perplexity]\n",
        .opts = perplexity_opts,
        .size = sizeof(struct perplexity),
    },
    .classifies = true,
    .exclusive = true,
    .size = cr_metric_nll_size,
    .add = perplexity_add,
    .value = perplexity_value,
};

/*
 * log_loss: the mean of -ln p of the labels, with p clipped to 2.2e-16 (the
 * epsilon of float64), as scikit-learn's log_loss. p is the softmax of an
 * output (n, classes); if each output has a label 0 or 1, p is the output or
 * its sigmoid.
 */
#include <float.h>
#include <math.h>

#include "score/metric.h"

struct log_loss {
    bool logits;
};

static const struct cr_opt log_loss_opts[] = {
    CR_BOOL_DEFAULT(struct log_loss, logits, false,
                    "Without an axis of classes: outputs are logits, as for "
                    "BCEWithLogitsLoss, instead of probabilities."),
    { 0 },
};

static double log_loss_nll(const struct log_loss *o, double x, double label)
{
    /* ln(1 + e^-x) and ln(1 + e^x), without overflow or cancellation */
    double tail = log1p(exp(-fabs(x)));
    double yes = o->logits ? fmax(-x, 0) + tail : -log(fmax(x, DBL_EPSILON));
    double no = o->logits ? fmax(x, 0) + tail : -log(fmax(1 - x, DBL_EPSILON));

    if (isnan(x))
        return (double)NAN;
    return label * fmin(yes, -log(DBL_EPSILON)) +
           (1 - label) * fmin(no, -log(DBL_EPSILON));
}

static void log_loss_add(const void *opts, void *state, int64_t classes,
                         const struct cr_metric_batch *batch)
{
    struct cr_metric_nll *all = state;
    int64_t n = cr_count(batch->spec);

    (void)classes;
    if (cr_metric_classified(batch)) {
        cr_metric_nll_add(all, DBL_EPSILON, CR_INT_NONE, batch);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        all->sum += log_loss_nll(opts, (double)batch->output[i],
                                 cr_metric_target(batch, i));
    all->all += n;
}

static double log_loss_value(const void *opts, const void *state,
                             int64_t classes)
{
    const struct cr_metric_nll *all = state;

    (void)opts;
    (void)classes;
    return all->sum / (double)all->all;
}

static const char *log_loss_vain(const void *opts, bool classified)
{
    const struct log_loss *o = opts;

    return classified && o->logits
               ? "'logits' applies only to outputs without an axis of classes"
               : NULL;
}

const struct cr_metric cr_metric_log_loss = {
    .about = {
        .name = "log_loss",
        .summary = "Log loss: mean of -ln p of the labels.",
        .detail = "p is the softmax of the output at the label, or the output "
                  "itself if the network ends in Softmax or Sigmoid and the "
                  "loss does not expect logits. Labels of the output's shape "
                  "are one-hot: the label is the largest one. Without an axis "
                  "of classes, labels are from 0 to 1 and p is the output. p "
                  "is at least 2.2e-16. All labels have the same weight; class "
                  "weights and label smoothing are ignored, unlike in `loss`.",
        .example = "metrics: [accuracy, log_loss]\n",
        .opts = log_loss_opts,
        .size = sizeof(struct log_loss),
    },
    .classifies = true,
    .exclusive = true,
    .compares = true,
    .no_effect = log_loss_vain,
    .size = cr_metric_nll_size,
    .add = log_loss_add,
    .value = log_loss_value,
};

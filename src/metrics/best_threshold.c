/*
 * best_threshold: the probability from which on class 1 of two is predicted
 * that maximises a score of the evaluation. It is the midpoint of two
 * consecutive outputs; scikit-learn chooses among the thresholds of roc_curve.
 * predict and eval read it from the checkpoint.
 */
#include <math.h>

#include "score/roc_curve.h"

enum { BEST_F1, BEST_ACCURACY, BEST_BALANCED, BEST_MATTHEWS };

struct best_threshold {
    int maximize;
    bool logits;
};

static const struct cr_opt best_threshold_opts[] = {
    CR_ENUM_DEFAULT(struct best_threshold, maximize, BEST_F1,
                    "F1|accuracy|balanced_accuracy|matthews",
                    "Score that the threshold maximises; F1 is that of class "
                    "1."),
    CR_BOOL_DEFAULT(struct best_threshold, logits, false,
                    "A single output is a logit, as for BCEWithLogitsLoss, "
                    "instead of a probability."),
    { 0 },
};

static double best_f1(struct cr_roc_counts c)
{
    return c.tp > 0 ? 2 * c.tp / (2 * c.tp + c.fp + c.fn) : 0;
}

static double best_accuracy(struct cr_roc_counts c)
{
    return c.tp + c.tn;
}

static double best_balanced(struct cr_roc_counts c)
{
    return (c.tp > 0 ? c.tp / (c.tp + c.fn) : 0) +
           (c.tn > 0 ? c.tn / (c.tn + c.fp) : 0);
}

static double best_matthews(struct cr_roc_counts c)
{
    double root = sqrt(c.tp + c.fp) * sqrt(c.tp + c.fn) * sqrt(c.tn + c.fp) *
                  sqrt(c.tn + c.fn);

    return root > 0 ? (c.tp * c.tn - c.fp * c.fn) / root : 0;
}

static double best_threshold_value(const void *opts, const void *state,
                                   int64_t classes)
{
    static double (*const score[])(struct cr_roc_counts) = {
        [BEST_F1] = best_f1,
        [BEST_ACCURACY] = best_accuracy,
        [BEST_BALANCED] = best_balanced,
        [BEST_MATTHEWS] = best_matthews,
    };
    const struct best_threshold *o = opts;
    const struct cr_roc *r = state;
    double at = cr_roc_threshold(r, classes > 1 ? 1 : 0, score[o->maximize]);

    return classes == 1 && o->logits ? 1 / (1 + exp(-at)) : at;
}

/* One-hot labels are classes too, as in predict. */
static void best_threshold_add(const void *opts, void *state, int64_t classes,
                               const struct cr_metric_batch *batch)
{
    (void)opts;
    cr_roc_class_add(state, classes, batch);
}

static double best_threshold_cut(const void *opts, double threshold)
{
    const struct best_threshold *o = opts;

    return o->logits ? log(threshold / (1 - threshold)) : threshold;
}

static const char *best_threshold_mismatch(const void *opts,
                                           const struct cr_spec *output,
                                           int axis)
{
    (void)opts;
    return output->rank < 2 || axis >= output->rank || output->dim[axis] <= 2
               ? NULL
               : "an output of two classes, or of one number";
}

const struct cr_metric cr_metric_best_threshold = {
    .about = {
        .name = "best_threshold",
        .summary = "Best threshold: the probability threshold of two classes "
                   "that maximises a score.",
        .detail = "Class 1 is predicted from this probability on. Evaluations "
                  "during training choose it on their data, and checkpoints "
                  "contain it. `predict` uses it unless --threshold is set, "
                  "and so does `eval` for any data: there best_threshold is "
                  "that of the checkpoint, and accuracy, precision and similar "
                  "metrics count the predictions of `predict`, unless they "
                  "have their own threshold. best_threshold is never used by "
                  "default to select the best checkpoint.",
        .example = "metrics: [auc, {best_threshold: {maximize: F1}}]\n",
        .opts = best_threshold_opts,
        .size = sizeof(struct best_threshold),
    },
    .classifies = true,
    .exclusive = true,
    .compares = true,
    .mismatch = best_threshold_mismatch,
    .size = cr_roc_size,
    .add = best_threshold_add,
    .value = best_threshold_value,
    .cut = best_threshold_cut,
};

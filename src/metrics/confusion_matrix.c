/*
 * confusion_matrix: the number of samples of each label (rows) and prediction
 * (columns). In normalised matrices 0 / 0 is 0.
 *
 * An output without an axis of classes has one number per label and predicts
 * class 1 from the threshold on, else 0, as MindSpore does for predictions of
 * the rank of the labels. A column (n, 1) with labels (n,) is such an output
 * here; MindSpore treats it as one class, which is always correct.
 */
#include "score/metric.h"

enum { NO_NORM, TARGET, PREDICTION, ALL };

struct confusion_matrix {
    int64_t num_classes;
    int normalize;
    double threshold;
};

static const struct cr_opt confusion_matrix_opts[] = {
    CR_INT_OPTIONAL(
        struct confusion_matrix, num_classes, 2, 1 << 20,
        "Number of rows and columns. Default: the number of classes of the "
        "output, or 2 without an axis of classes."),
    CR_ENUM_DEFAULT(
        struct confusion_matrix, normalize, NO_NORM,
        "no_norm|target|prediction|all",
        "Divide counts by the sum of their row (target), their column "
        "(prediction) or all (all); results have the name "
        "confusion_matrix_target and so on."),
    CR_METRIC_THRESHOLD(struct confusion_matrix),
    { 0 },
};

static const char *confusion_matrix_called(const void *opts,
                                           struct cr_arena *arena)
{
    static const char *const name[] = { "confusion_matrix",
                                        "confusion_matrix_target",
                                        "confusion_matrix_prediction",
                                        "confusion_matrix_all" };

    (void)arena;
    return name[((const struct confusion_matrix *)opts)->normalize];
}

static int64_t confusion_matrix_classes(const void *opts, int64_t found)
{
    const struct confusion_matrix *o = opts;

    if (o->num_classes == CR_INT_NONE)
        return cr_metric_votes_classes(opts, found);
    return o->num_classes >= found ? o->num_classes : 0;
}

static void confusion_matrix_add(const void *opts, void *state,
                                 int64_t classes,
                                 const struct cr_metric_batch *batch)
{
    const struct confusion_matrix *o = opts;

    cr_metric_votes_add(o->threshold, state, classes, batch);
}

static int64_t confusion_matrix_table(const void *opts, const void *state,
                                      int64_t classes, double *to)
{
    const struct confusion_matrix *o = opts;
    const int64_t *counts = state;
    double all = 0;

    for (int64_t i = 0; i < classes * classes; i++) {
        to[i] = (double)counts[i];
        all += to[i];
    }
    for (int64_t i = 0; i < classes && o->normalize != NO_NORM; i++) {
        /* row i, or column i */
        int64_t first = o->normalize == PREDICTION ? i : i * classes;
        int64_t step = o->normalize == PREDICTION ? classes : 1;
        double sum = 0;

        for (int64_t k = 0; k < classes; k++)
            sum += to[first + k * step];
        if (o->normalize == ALL)
            sum = all;
        for (int64_t k = 0; k < classes && sum > 0; k++)
            to[first + k * step] /= sum;
    }
    return classes;
}

static const char *confusion_matrix_vain(const void *opts, bool classified)
{
    const struct confusion_matrix *o = opts;

    return cr_metric_threshold_no_effect(o->threshold, classified);
}

const struct cr_metric cr_metric_confusion_matrix = {
    .about = {
        .name = "confusion_matrix",
        .aliases = CR_ALIASES("ConfusionMatrix"),
        .summary = "Confusion matrix: counts of each pair of label and "
                   "prediction.",
        .detail = "Rows are labels, columns predictions. Outputs are (n, "
                  "classes, ...), or one number per label, which predicts "
                  "class 1 from the threshold on.",
        .example = "metrics: [confusion_matrix]\n",
        .opts = confusion_matrix_opts,
        .size = sizeof(struct confusion_matrix),
    },
    .classifies = true,
    .exclusive = true,
    .compares = true,
    .no_effect = confusion_matrix_vain,
    .classes = confusion_matrix_classes,
    .size = cr_metric_confusion_size,
    .add = confusion_matrix_add,
    .table = confusion_matrix_table,
    .result_name = confusion_matrix_called,
};

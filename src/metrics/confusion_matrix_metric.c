/*
 * ConfusionMatrixMetric: a rate from the true and false positives and
 * negatives, each class against all others.
 *
 * The counts are those of all samples and classes; with calculation_method,
 * those of each class of each sample, n of which have a defined rate.
 * `decrease` reduces the rates of a batch to a number r with a weight w:
 *
 *   mean           r the mean over classes, then samples; w the number of
 *                  samples with a defined rate
 *   sum            r the sum; w = n
 *   mean_channel   r the mean over classes, for batches of one sample; w = n
 *   sum_channel, sum_batch, none   as sum, where MindSpore accepts them: for
 *                  one sample, for one class, for both
 *
 *   result = sum(w r) / sum(w)
 *
 * MindSpore's mean_batch fails in MindSpore for any input. As in MindSpore, an
 * output without positions, (n, classes), is always counted as a whole, and
 * `skip_channel: false` ignores the first class.
 */
#include "base/str.h"
#include "score/metric.h"

#include <math.h>
#include <string.h>

struct confusion_matrix_metric {
    bool skip_channel;
    int metric_name;
    bool calculation_method;
    int decrease;
};

enum {
    DECREASE_NONE,
    DECREASE_MEAN,
    DECREASE_SUM,
    DECREASE_SUM_BATCH,
    DECREASE_MEAN_CHANNEL,
    DECREASE_SUM_CHANNEL
};

enum {
    SENSITIVITY,
    SPECIFICITY,
    PRECISION,
    NEGATIVE_PREDICTIVE_VALUE,
    MISS_RATE,
    FALL_OUT,
    FALSE_DISCOVERY_RATE,
    FALSE_OMISSION_RATE,
    PREVALENCE_THRESHOLD,
    THREAT_SCORE,
    ACCURACY,
    BALANCED_ACCURACY,
    F1_SCORE,
    MATTHEWS,
    FOWLKES_MALLOWS,
    INFORMEDNESS,
    MARKEDNESS
};

#define RATES \
    "sensitivity|specificity|precision|negative_predictive_value|miss_rate|" \
    "fall_out|false_discovery_rate|false_omission_rate|" \
    "prevalence_threshold|threat_score|accuracy|balanced_accuracy|f1_score|" \
    "matthews_correlation_coefficient|fowlkes_mallows_index|informedness|" \
    "markedness"

static const struct cr_opt confusion_matrix_metric_opts[] = {
    CR_BOOL_DEFAULT(
        struct confusion_matrix_metric, skip_channel, true,
        "false: ignore the first class, as MindSpore's code does."),
    CR_ENUM_DEFAULT(struct confusion_matrix_metric, metric_name, SENSITIVITY,
                    RATES, "Rate to compute; the result has its name."),
    CR_BOOL_DEFAULT(
        struct confusion_matrix_metric, calculation_method, false,
        "For outputs with positions and classes: compute the rate of each "
        "sample, then the mean."),
    CR_ENUM_DEFAULT(
        struct confusion_matrix_metric, decrease, DECREASE_MEAN,
        "none|mean|sum|sum_batch|mean_channel|sum_channel",
        "With calculation_method, reduction of the rates of a batch. mean: "
        "over classes, then samples. sum: over both. mean_channel, "
        "sum_channel: for batches of one sample. sum_batch: for one class. "
        "none: for one sample and one class. Batches are weighted by the "
        "number of rates that they contain."),
    { 0 },
};

struct rates {
    double tp, fp, tn, fn;
    struct cr_metric_mean of_samples;
};

static double rates_ratio(double part, double of)
{
    return of > 0 ? part / of : (double)NAN;
}

static double rates_value(int name, double tp, double fp, double tn, double fn)
{
    double tpr = rates_ratio(tp, tp + fn), tnr = rates_ratio(tn, tn + fp);
    double ppv = rates_ratio(tp, tp + fp), npv = rates_ratio(tn, tn + fn);

    switch (name) {
    case SENSITIVITY:
        return tpr;
    case SPECIFICITY:
        return tnr;
    case PRECISION:
        return ppv;
    case NEGATIVE_PREDICTIVE_VALUE:
        return npv;
    case MISS_RATE:
        return rates_ratio(fn, tp + fn);
    case FALL_OUT:
        return rates_ratio(fp, tn + fp);
    case FALSE_DISCOVERY_RATE:
        return rates_ratio(fp, tp + fp);
    case FALSE_OMISSION_RATE:
        return rates_ratio(fn, tn + fn);
    case PREVALENCE_THRESHOLD:
        return tpr + tnr == 1 ? (double)NAN
                              : (sqrt(tpr * (1 - tnr)) + tnr - 1) /
                                    (tpr + tnr - 1);
    case THREAT_SCORE:
        return rates_ratio(tp, tp + fn + fp);
    case ACCURACY:
        return rates_ratio(tp + tn, tp + fp + tn + fn);
    case BALANCED_ACCURACY:
        return (tpr + tnr) / 2;
    case F1_SCORE:
        return rates_ratio(2 * tp, 2 * tp + fn + fp);
    case MATTHEWS:
        return rates_ratio(tp * tn - fp * fn,
                           sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)));
    case FOWLKES_MALLOWS:
        return sqrt(ppv * tpr);
    case INFORMEDNESS:
        return tpr + tnr - 1;
    default:
        return ppv + npv - 1;
    }
}

/* Counts each class among n positions from `from` on; returns the number of
 * positions with a label. */
static double rates_count(const struct cr_metric_batch *batch, int64_t from,
                          int64_t n, struct cr_metric_class *to)
{
    double labels = 0;

    for (int64_t i = from; i < from + n; i++) {
        int64_t label = cr_metric_label(batch, i), predicted;

        if (label < 0)
            continue;
        predicted = cr_metric_argmax(batch, i);
        to[label].actual++;
        to[predicted].predicted++;
        to[label].correct += predicted == label;
        labels++;
    }
    return labels;
}

static size_t confusion_matrix_metric_size(const void *opts, int64_t classes)
{
    (void)opts;
    (void)classes;
    return sizeof(struct rates);
}

static void confusion_matrix_metric_add(const void *opts, void *state,
                                        int64_t classes,
                                        const struct cr_metric_batch *batch)
{
    const struct confusion_matrix_metric *o = opts;
    struct rates *all = state;
    int64_t samples = batch->spec->dim[0];
    int64_t n = cr_metric_positions(batch) / samples;

    struct cr_metric_mean whole = { 0 }; /* batch */
    struct cr_arena mem = { 0 };
    struct cr_metric_class *of = CR_NEWS(&mem, struct cr_metric_class, classes);

    for (int64_t i = 0; i < samples; i++) {
        struct cr_metric_mean mean = { 0 };
        double labels;

        memset(of, 0, (size_t)classes * sizeof *of);
        labels = rates_count(batch, i * n, n, of);
        for (int64_t c = o->skip_channel ? 0 : 1; c < classes; c++) {
            double tp = of[c].correct, fp = of[c].predicted - tp;
            double fn = of[c].actual - tp, tn = labels - tp - fp - fn;
            double rate = rates_value(o->metric_name, tp, fp, tn, fn);

            all->tp += tp;
            all->fp += fp;
            all->tn += tn;
            all->fn += fn;
            if (!isnan(rate)) {
                mean.sum += rate;
                mean.all++;
            }
        }
        if (mean.all > 0 && batch->spec->rank > 2) {
            bool means = o->decrease == DECREASE_MEAN;

            whole.sum += means ? mean.sum / (double)mean.all : mean.sum;
            whole.all += means ? 1 : mean.all;
        }
    }
    /* sums are weighted; means times their number are sums */
    all->of_samples.sum += o->decrease == DECREASE_MEAN ||
                                   o->decrease == DECREASE_MEAN_CHANNEL
                               ? whole.sum
                               : whole.sum * (double)whole.all;
    all->of_samples.all += whole.all;
    cr_arena_free(&mem);
}

/* MindSpore accepts exactly one number from a batch. */
static const char *confusion_mismatch(const void *opts,
                                      const struct cr_spec *output, int axis)
{
    const struct confusion_matrix_metric *o = opts;
    int64_t classes = output->dim[axis] - !o->skip_channel;
    bool one_class = o->decrease == DECREASE_NONE ||
                     o->decrease == DECREASE_SUM_BATCH;
    bool one_sample = o->decrease == DECREASE_NONE ||
                      o->decrease == DECREASE_MEAN_CHANNEL ||
                      o->decrease == DECREASE_SUM_CHANNEL;

    if (!o->calculation_method || output->rank < 3)
        return NULL;
    if (one_class && classes > 1)
        return "one class to count (decrease: mean and sum accept any number)";
    if (one_sample && output->dim[0] > 1)
        return "batches of one sample (decrease: mean and sum accept any size)";
    return NULL;
}

static const char *confusion_matrix_metric_vain(const void *opts,
                                                bool classified)
{
    const struct confusion_matrix_metric *o = opts;

    (void)classified;
    return o->decrease != DECREASE_MEAN && !o->calculation_method
               ? "'decrease' requires calculation_method: true"
               : NULL;
}

static double confusion_matrix_metric_value(const void *opts,
                                            const void *state, int64_t classes)
{
    const struct confusion_matrix_metric *o = opts;
    const struct rates *all = state;

    (void)classes;
    if (o->calculation_method && all->of_samples.all > 0)
        return all->of_samples.sum / (double)all->of_samples.all;
    return rates_value(o->metric_name, all->tp, all->fp, all->tn, all->fn);
}

/* False for rates of errors and the prevalence threshold (Balayla 2020), of
 * which smaller values are better. */
static bool rates_larger(int name)
{
    switch (name) {
    case MISS_RATE:
    case FALL_OUT:
    case FALSE_DISCOVERY_RATE:
    case FALSE_OMISSION_RATE:
    case PREVALENCE_THRESHOLD:
        return false;
    default:
        return true;
    }
}

static bool confusion_matrix_metric_larger(const void *opts)
{
    const struct confusion_matrix_metric *o = opts;

    return rates_larger(o->metric_name);
}

#define CALLED "confusion_matrix_"

static bool confusion_matrix_metric_calls(const char *name, bool *maximize)
{
    const char *rate = RATES;

    if (!cr_starts(name, CALLED))
        return false;
    name += strlen(CALLED);
    for (int i = 0; *rate; i++) {
        size_t n = strcspn(rate, "|");

        if (strlen(name) == n && memcmp(name, rate, n) == 0) {
            *maximize = rates_larger(i);
            return true;
        }
        rate += n + (rate[n] == '|');
    }
    return false;
}

static const char *confusion_matrix_metric_called(const void *opts,
                                                  struct cr_arena *arena)
{
    const struct confusion_matrix_metric *o = opts;
    const char *name = RATES;

    for (int i = 0; i < o->metric_name; i++)
        name = strchr(name, '|') + 1;
    return cr_strf(arena, CALLED "%.*s", (int)strcspn(name, "|"),
                   name);
}

const struct cr_metric cr_metric_confusion_matrix_metric = {
    .about = {
        .name = "confusion_matrix_metric",
        .aliases = CR_ALIASES("ConfusionMatrixMetric"),
        .summary = "A rate from the true and false positives and negatives.",
        .detail = "Each class is counted against all others, over all samples "
                  "and classes. The name of the result contains the rate: "
                  "confusion_matrix_sensitivity. Smaller values of miss_rate, "
                  "fall_out, false_discovery_rate, false_omission_rate and "
                  "prevalence_threshold are better, larger values of the other "
                  "rates; mode: auto of checkpoint.best and train.early_stop "
                  "uses this.",
        .example = "metrics: [{ConfusionMatrixMetric: {metric_name: "
                   "specificity}}]\n",
        .opts = confusion_matrix_metric_opts,
        .size = sizeof(struct confusion_matrix_metric),
    },
    .greater_is_better = confusion_matrix_metric_larger,
    .classifies = true,
    .mismatch = confusion_mismatch,
    .no_effect = confusion_matrix_metric_vain,
    .size = confusion_matrix_metric_size,
    .add = confusion_matrix_metric_add,
    .value = confusion_matrix_metric_value,
    .result_name = confusion_matrix_metric_called,
    .names_result = confusion_matrix_metric_calls,
};

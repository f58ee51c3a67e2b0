/*
 * A metric: its state is cleared, updated with each batch, and evaluated.
 * Exact for batches of different sizes, except `loss`, which is MindSpore's
 * mean of batch means.
 */
#ifndef CR_SCORE_METRIC_H
#define CR_SCORE_METRIC_H

#include "conf/config.h"
#include "num/spec.h"

/* The result of a metric block for a batch. */
struct cr_metric_block_value {
    struct cr_spec spec;
    const cr_real *x;
};

struct cr_metric_batch {
    int64_t samples;
    const struct cr_spec *spec; /* of the output, usually (n, classes) */
    int axis;                   /* axis of the classes, usually 1 */
    bool probs;                 /* outputs are probabilities, not logits */
    const cr_real *output;
    const struct cr_spec *label_spec;
    const void *label;          /* NULL: no label column */
    double loss;
    const struct cr_metric_block_value
        *block_values;          /* in the order of the config */
    struct cr_arena *mem;       /* lives as long as the states */
    /* Of two classes or one number: class 1 is predicted where its probability,
     * or the number, is not below *cut. NULL: the larger output, or a metric's
     * own threshold. */
    const double *cut;
    /* Each number of the output has a label of its own, because of the loss
     * (BCEWithLogitsLoss): the label 1 is predicted from *label_cut on. NULL:
     * a position has one class. */
    const double *label_cut;
};

/* Counts of a class: correct predictions, predictions, labels. */
struct cr_metric_class {
    double correct, predicted, actual;
};

/* A metric, defined in one of three ways: by `top`, the number of largest
 * outputs among which the label must be; by `of`, a function of the counts of
 * a class; or by size, add and value. The caller zeroes the state; memory to
 * which it points is in the batch's `mem`. */
struct cr_metric {
    struct cr_descriptor about;
    bool maximize;              /* larger values are better */
    bool (*greater_is_better)(
        const void *opts);      /* optional: overrides `maximize` */
    bool undirected;            /* neither direction is better */
    bool classifies;            /* needs class outputs and class labels */
    bool exclusive;             /* a position has one class: of labels that are
                                   0 or 1 for each class it sees only one */
    bool compares;              /* needs one label per number of the output;
                                   with `classifies` an alternative to it */
    /* Optional: what else the metric needs, such as "an output of shape ...";
     * NULL: nothing is missing. */
    const char *(*mismatch)(const void *opts, const struct cr_spec *output,
                            int axis);
    /* Optional: an option that has no effect with these outputs, and why, such
     * as "'x' without 'y'"; NULL: none. `classified`: labels are classes. */
    const char *(*no_effect)(const void *opts, bool classified);
    /* Optional: the number of classes that the metric counts, and of its
     * table's rows, if the output has `found` classes (0: no axis of classes);
     * 0: it cannot count them. NULL: as many as the output has. */
    int64_t (*classes)(const void *opts, int64_t found);
    int64_t top;
    double (*of)(const void *opts, struct cr_metric_class counts);
    /* Optional, for options that start with struct cr_metric_multilabel_opts:
     * with multilabel, a function of the counts over the classes of one
     * position; the metric is its mean over all positions. */
    double (*multilabel)(struct cr_metric_class counts);
    size_t (*size)(const void *opts, int64_t classes); /* bytes of state */
    void (*add)(const void *opts, void *state, int64_t classes,
                const struct cr_metric_batch *batch);
    /* NULL: the metric has no single value, only a table. */
    double (*value)(const void *opts, const void *state, int64_t classes);
    /* Optional: writes a table of `classes` rows; returns the number of its
     * columns, at most `classes`. */
    int64_t (*table)(const void *opts, const void *state, int64_t classes,
                     double *to);
    /* Optional: points (false positive rate, true positive rate, threshold)
     * instead of a number. */
    const double *(*curve)(const void *opts, const void *state,
                           struct cr_arena *mem, int64_t *points);
    /* Optional: the name in results if it depends on the options. */
    const char *(*result_name)(const void *opts, struct cr_arena *arena);
    /* Optional: the metric selects a threshold, which is stored in
     * checkpoints; returns the raw output (one number) that corresponds to
     * it. */
    double (*cut)(const void *opts, double threshold);
    /* Optional, next to `result_name`: whether a result may have this name; if
     * so, *maximize is set. */
    bool (*names_result)(const char *name, bool *maximize);
};

const struct cr_metric *cr_metric_find(const char *name);
/* Whether a result of this name belongs to a built-in metric, and if so
 * whether larger values are better. */
bool cr_metric_named(const char *name, bool *maximize);

/* Options of multilabel metrics: labels are 0 or 1 for each class, and outputs
 * of at least the threshold are positive. */
struct cr_metric_multilabel_opts {
    int eval_type;              /* 1: multilabel */
    double threshold;
};
#define CR_METRIC_MULTILABEL(T)                                             \
    { .name = "eval_type",                                                  \
      .at = offsetof(T, eval_type),                                         \
      .type = CR_OPT_ENUM,                                                  \
      .need = CR_DEFAULT,                                                   \
      .choices = "classification|multilabel",                               \
      .doc = "classification: labels are classes. multilabel: labels are 0 " \
             "or 1 for each class; the result has the name "                \
             "NAME_multilabel." },                                          \
    {                                                                       \
        .name = "threshold", .at = offsetof(T, threshold),                  \
        .type = CR_OPT_REAL, .need = CR_DEFAULT, .real_default = 0.5,       \
        .min = -DBL_MAX, .max = DBL_MAX,                                    \
        .doc = "With multilabel, output from which on the label 1 is "      \
               "predicted; use 0 for logits."                               \
    }
bool cr_metric_is_multilabel(const struct cr_metric *metric, const void *opts);

/* Of the metrics of single classes: how they count multi-hot labels. */
#define CR_METRIC_MULTI_HOT                                                    \
    "With BCEWithLogitsLoss, BCELoss or MultiLabelSoftMarginLoss, and labels " \
    "that are 0 or 1 for each class and not one-hot, each label is counted "   \
    "by itself, and predicted from the probability 0.5 on."

/* A metric of a config and its name in results. */
struct cr_metric_use {
    const struct cr_metric *metric;
    const void *opts;
    const char *name;
    struct cr_pos pos;
};

struct cr_metrics {
    int n;
    const struct cr_metric_use *use;
    bool blocks; /* some are metric blocks */
};

/* The section `metrics`; without one accuracy (where `classifies`) and loss.
 * False after reporting. */
bool cr_metrics_read(struct cr_config *config, bool classifies,
                     struct cr_metrics *to);
/* The same from words of the command line, "accuracy,loss". */
bool cr_metrics_words(struct cr_config *config, const char *words,
                      struct cr_metrics *to);
const struct cr_metric_use *cr_metrics_find(const struct cr_metrics *metrics,
                                            const char *name);

/* Operations on metrics of all three kinds. A metric of single classes counts
 * each label by itself if one of the positions is multi-hot. */
size_t cr_metric_size(const struct cr_metric_use *use, int64_t classes);
void cr_metric_add(const struct cr_metric_use *use, void *state,
                   int64_t classes, const struct cr_metric_batch *batch);
/* Whether larger values are better. */
bool cr_metric_maximize(const struct cr_metric_use *use);
/* Whether the metric is a single number; the number. */
bool cr_metric_single(const struct cr_metric *metric);
double cr_metric_value(const struct cr_metric_use *use, const void *state,
                       int64_t classes);
/* Fills (classes, columns) into `to`, which has space for classes x classes;
 * returns the number of columns, 0 without a table. */
int64_t cr_metric_table(const struct cr_metric_use *use, const void *state,
                        int64_t classes, double *to);
/* Whether the metric has a table. */
bool cr_metric_tabular(const struct cr_metric_use *use);
/* Of a metric of single classes: the number of labels of each class. */
void cr_metric_actual(const void *state, int64_t classes, double *to);

/* ---- For metrics of classes: outputs of shape (n, ..classes at axis..),
 * labels of the shape without that axis as integers, or of the outputs' shape,
 * one-hot. */

/* Whether outputs and labels have these shapes; else each number of the output
 * has a label. */
bool cr_metric_classified(const struct cr_metric_batch *batch);
/* Number of positions that have a label: elements of the other dimensions. The
 * positions of a sample are adjacent. */
int64_t cr_metric_positions(const struct cr_metric_batch *batch);
/* The label at a position; -1 for labels outside the classes, which are
 * ignored. */
int64_t cr_metric_label(const struct cr_metric_batch *batch, int64_t at);
/* Whether some position has not one label 1 and zeros: none, or several. */
bool cr_metric_multi_hot(const struct cr_metric_batch *batch);
/* First element of the output at a position, and the distance between its
 * classes. */
int64_t cr_metric_first(const struct cr_metric_batch *batch, int64_t at,
                        int64_t *stride);
/* The class with the largest output, the first of equals. */
int64_t cr_metric_argmax(const struct cr_metric_batch *batch, int64_t at);

/* Top-k hits: the label is among the k largest outputs, equal outputs in the
 * order of classes. */
struct cr_metric_hits {
    int64_t correct, all;
};
size_t cr_metric_hits_size(const void *opts, int64_t classes);
void cr_metric_hits_add(struct cr_metric_hits *share, int64_t k,
                        const struct cr_metric_batch *batch);
double cr_metric_hits_value(const void *opts, const void *state,
                            int64_t classes);

/* Negative log-likelihood of the labels: -ln p, where p = softmax(output), or
 * the output itself (batch->probs), clipped below at `least`. */
struct cr_metric_nll {
    double sum;
    int64_t all;
};
size_t cr_metric_nll_size(const void *opts, int64_t classes);
/* Labels equal to `ignored` do not count (CR_INT_NONE: none). */
void cr_metric_nll_add(struct cr_metric_nll *nats, double least,
                       int64_t ignored, const struct cr_metric_batch *batch);

/* Confusion matrix: counts[label * classes + predicted]. */
size_t cr_metric_confusion_size(const void *opts, int64_t classes);
void cr_metric_confusion_add(const void *opts, void *state, int64_t classes,
                             const struct cr_metric_batch *batch);

/* The counts of a class from a confusion matrix. */
struct cr_metric_class cr_metric_class(const void *pairs, int64_t classes,
                                       int64_t class);

/* The same matrix for outputs without an axis of classes, where each number
 * has a label: numbers of at least the threshold predict class 1. */
#define CR_METRIC_THRESHOLD(T)                                       \
    CR_REAL_DEFAULT(                                                 \
        T, threshold, 0.5, -DBL_MAX, DBL_MAX,                        \
        "Without an axis of classes: output from which on class 1 "  \
        "is predicted; use 0 for logits.")
void cr_metric_votes_add(double threshold, void *state, int64_t classes,
                         const struct cr_metric_batch *batch);
/* A metric's `classes`, and its `no_effect` for the threshold. */
int64_t cr_metric_votes_classes(const void *opts, int64_t found);
const char *cr_metric_threshold_no_effect(double threshold, bool classified);

/* ---- For regression metrics: labels of any type. */

/* The label of element i of the output. */
double cr_metric_target(const struct cr_metric_batch *batch, int64_t i);

/* A mean over samples or other items. */
struct cr_metric_mean {
    double sum;
    int64_t all;
};
size_t cr_metric_mean_size(const void *opts, int64_t classes);
double cr_metric_mean_value(const void *opts, const void *state,
                            int64_t classes);

#endif

/*
 * Evaluation of a network: a data loader, plans for its batches, and metrics.
 * (The section `eval`, about evaluations while training: section.h.)
 */
#ifndef CR_SCORE_EVAL_H
#define CR_SCORE_EVAL_H

#include "data/data_loader.h"
#include "run/plans.h"
#include "score/metric.h"
#include "score/outcomes.h"
#include "score/score.h"

struct cr_eval_opts {
    struct cr_data_loader *loader;
    const struct cr_metrics *metrics;
    const struct cr_column
        *columns; /* columns that the network was built for */
    int n_columns;
    int64_t max_batches;        /* <= 0, CR_INT_NONE: all */
    bool eager;
    /* Optional: the scores of a checkpoint's last evaluation. If they contain
     * a chosen threshold, metrics use it for two classes, as predict does. */
    const struct cr_scores *chosen;
    /* Optional: receives what was found for each sample. Belongs to the
     * caller, who may replace it between evaluations. */
    struct cr_outcomes **outcomes;
};

struct cr_eval;

/* Warns if eval.max_batches leaves only samples of one class. */
void cr_eval_part(struct cr_config *config, const struct cr_data_loader *loader,
                  int64_t max_batches);

/* Checks that data, network and metrics fit each other and makes the plans;
 * reads no data. NULL after reporting. */
struct cr_eval *cr_eval_open(struct cr_config *config, struct cr_net *net,
                             const struct cr_eval_opts *want);
void cr_eval_close(struct cr_eval *eval);

/* Runs an evaluation. `stop` (or NULL) is called between batches; if it
 * returns true, *stopped is set and the scores are not changed. False after
 * reporting. */
bool cr_eval_run(struct cr_eval *eval, struct cr_diag *diag,
                 bool (*stop)(void *ctx), void *ctx, bool *stopped);
/* Warns if the last evaluation predicted one class for all samples, though
 * their labels differ. */
void cr_eval_warn_one_class(const struct cr_eval *eval, struct cr_diag *diag,
                            struct cr_pos pos);
/* The chosen threshold that metrics use; NaN: none. */
double cr_eval_threshold(const struct cr_eval *eval);
/* The scores of the last evaluation; before the first all are NaN. */
const struct cr_scores *cr_eval_scores(const struct cr_eval *eval);

/* The column of labels: the first target that the loss names, else `label`; -1
 * if the data set has no such column. */
int cr_label_column(const struct cr_config *config,
                    const struct cr_column *columns, int n);
/* Whether the labels are integers, that is, classes. */
bool cr_label_classifies(const struct cr_config *config,
                         const struct cr_column *columns, int n);

/* The axis of the classes in the network's output: that of the loss, if it
 * names one, else 1. May be outside of the output. */
int cr_class_axis(const struct cr_config *config, const struct cr_spec *out);

#endif

/*
 * Judging a network: a data loader, plans for its batches, metrics over them.
 * (The section `eval`, about evaluations while training: section.h.)
 */
#ifndef CR_TRAIN_EVAL_H
#define CR_TRAIN_EVAL_H

#include "data/data_loader.h"
#include "train/metric.h"
#include "train/plans.h"
#include "train/score.h"

struct cr_eval_opts {
    struct cr_data_loader *loader;
    const struct cr_metrics *metrics;
    const struct cr_column *columns; /* those the network was built for */
    int n_columns;
    int64_t max_batches;        /* <= 0, CR_INT_NONE: all */
    bool eager;
    /* Optional: what a checkpoint's last evaluation gave. If it chose a
     * threshold, metrics cut two classes there, as predict does. */
    const struct cr_scores *chosen;
};

struct cr_eval;

/* Warns where eval.max_batches leaves samples of one class alone. */
void cr_eval_part(struct cr_config *config, const struct cr_data_loader *loader,
                  int64_t max_batches);

/* Checks that data, network and metrics fit each other and makes the plans;
 * reads no data. NULL after reporting. */
struct cr_eval *cr_eval_open(struct cr_config *config, struct cr_net *net,
                             const struct cr_eval_opts *want);
void cr_eval_close(struct cr_eval *eval);

/* One evaluation. Between batches `stop` is asked (NULL: nobody is); when it
 * says so, *stopped is set and the scores are not. False after reporting. */
bool cr_eval_run(struct cr_eval *eval, struct cr_diag *diag,
                 bool (*stop)(void *ctx), void *ctx, bool *stopped);
/* The chosen threshold that metrics cut at; NaN: none. */
double cr_eval_threshold(const struct cr_eval *eval);
/* The scores of the last evaluation; before the first all are NaN. */
const struct cr_scores *cr_eval_scores(const struct cr_eval *eval);

/* The column that holds the truth: what the loss names first among its
 * targets, else `label`; -1 if the data have none. */
int cr_label_column(const struct cr_config *config,
                    const struct cr_column *columns, int n);
/* Whether it holds integers, that is, classes. */
bool cr_label_classifies(const struct cr_config *config,
                         const struct cr_column *columns, int n);

/* The axis of the classes in the network's output: that of the loss, if it
 * names one, else 1. May lie outside of the output. */
int cr_class_axis(const struct cr_config *config, const struct cr_spec *out);

#endif

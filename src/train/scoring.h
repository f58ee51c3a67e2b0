/*
 * What the evaluations of a run decide: the best checkpoint, early stopping,
 * the learning rate on a plateau, and --require.
 */
#ifndef CR_TRAIN_SCORING_H
#define CR_TRAIN_SCORING_H

#include "score/eval.h"
#include "score/require.h"
#include "train/plateau.h"

struct cr_train;

struct cr_train_outcomes;

struct cr_run_scoring {
    struct cr_data_loader *loader; /* NULL: no data to evaluate on */
    struct cr_eval *eval;          /* NULL as well */
    struct cr_metrics metrics;
    const struct cr_metric_use *best;      /* NULL: none */
    const struct cr_plateau_rule *plateau; /* NULL: none */
    bool best_max, early_max, plateau_max;
    struct cr_require *require;
    struct cr_train_outcomes *outcomes; /* NULL: the run writes none */
};

/* Finds the metrics that select and stop; false after reporting. */
bool cr_scoring_prepare(struct cr_train *train);
/* The same for the schedule that follows a metric; needs the optimizer. */
bool cr_scoring_prepare_plateau(struct cr_train *train);
/* Applies the scores of an evaluation to best, early stopping and plateau. An
 * evaluation that is due only at the end of the run (not `planned`) is ignored
 * for the last two: an extended run must stop at the same step as one that was
 * long from the start. */
void cr_scoring_apply(struct cr_train *train, bool planned);
/* Whether --require names metrics of the run; false after reporting. */
bool cr_scoring_require(struct cr_train *train);
/* Checks --require at the end of the run. */
void cr_scoring_check(struct cr_train *train);

#endif

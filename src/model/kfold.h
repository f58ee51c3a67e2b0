/*
 * k-fold cross-validation: one run per fold, trained without the samples of the
 * fold and evaluated on them.
 *
 * Fold k of N is the split `test` of `dataset.split: {folds: N, fold: k}`, so a
 * loop of `train` and `eval --data test` gives the same runs.
 */
#ifndef CR_MODEL_KFOLD_H
#define CR_MODEL_KFOLD_H

#include "conf/command_line.h"
#include "score/score.h"

struct cr_kfold_opts {
    int64_t folds;
    const char *dir;            /* runs go to DIR/fold-K; NULL: RUNS/NAME/ID */
    const char *metrics;        /* "accuracy,loss"; NULL: those of the config */
    bool force, eager;
};

struct cr_kfold_run {
    const char *dir;
    struct cr_scores scores;
};

struct cr_kfold {
    struct cr_arena *arena;
    int64_t folds;
    struct cr_kfold_run *run;   /* per fold */
    struct cr_scores mean;      /* of the metrics that are a single number */
    double *deviation;          /* standard deviation of each, over the folds */
};

/* Trains and evaluates all folds; a finished fold is only evaluated. Returns 0,
 * or the exit status of the fold that failed, whose messages are printed. */
int cr_kfold(struct cr_cli *cli, const struct cr_kfold_opts *want,
             struct cr_kfold *to);

#endif

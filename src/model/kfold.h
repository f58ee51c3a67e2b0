/*
 * Cross-validation: a run for each part of the training data, which it does
 * not see and is judged on.
 *
 * Part k of N is what `dataset.split: {folds: N, fold: k}` makes the split
 * `test`, so a loop of train and eval --data test by hand gives the same runs.
 */
#ifndef CR_MODEL_KFOLD_H
#define CR_MODEL_KFOLD_H

#include "conf/command_line.h"
#include "train/score.h"

struct cr_kfold_opts {
    int64_t folds;
    const char *dir;            /* runs are DIR/fold-K; NULL: RUNS/NAME/ID */
    const char *metrics;        /* as words; NULL: the config's */
    bool force, eager;
};

struct cr_kfold_run {
    const char *dir;
    struct cr_scores scores;
};

struct cr_kfold {
    struct cr_arena *arena;
    int64_t folds;
    struct cr_kfold_run *run;   /* of each fold */
    struct cr_scores mean;      /* of the metrics that are one number */
    double *deviation;          /* of each of these, over the folds */
};

/* Trains and judges all folds, those that are finished judged alone. Returns
 * 0, or the exit status of the fold that could not be. */
int cr_kfold(struct cr_cli *cli, const struct cr_kfold_opts *want,
             struct cr_kfold *to);

#endif

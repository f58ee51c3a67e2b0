/*
 * The progress that a run reports: lines of the log, the rows of the table
 * and the bar of a terminal, with an estimate of the remaining time.
 *
 * An epoch has one row, which is printed after the evaluation at its end. An
 * evaluation within an epoch, and the end of a run within one, have a row of
 * their own.
 */
#ifndef CR_TRAIN_PROGRESS_H
#define CR_TRAIN_PROGRESS_H

#include "console/eta.h"
#include "train/train.h"

struct cr_run_progress {
    struct cr_train *t;
    struct cr_eta eta;
    double marked;       /* time up to which durations are accounted for */
    double evaluated;    /* duration of an evaluation not yet accounted for, as
                            its checkpoint may follow; 0: none */
    double row_began;    /* time of the last row, or of the start */
    double row_steps;    /* seconds of steps since then */
    int64_t row_samples; /* samples seen at that time */
    int64_t row_step;    /* step of the last row; -1: none */
    double row_lr;       /* learning rate of the last row; NAN: none */
    int64_t ended;       /* epoch that has ended and has no row yet; -1: none */
    double ended_loss;   /* its mean training loss */
    bool new_scores;     /* the last evaluation is in no row yet */
    int64_t eval_batches; /* done in the evaluation under way */
};

/* Mean losses of epochs that ended in the same step. */
struct cr_epoch_means {
    double *mean; /* in the arena of the run */
    int n, cap;
};

/* Adds the loss of a batch, t->loss, to the sum of its epoch. `batch` is its
 * number in the run, from 1; if it is the last one of the epoch, the mean is
 * added to `ended`. */
void cr_epoch_loss_add(struct cr_epoch_means *ended, struct cr_train *t,
                       struct cr_loss_sum *epoch, int64_t batch,
                       int64_t samples);

/* Starts from the present state; again after a return to an earlier one. */
void cr_run_progress_begin(struct cr_run_progress *p, struct cr_train *t);

/* After a step. */
void cr_run_progress_step(struct cr_run_progress *p);
/* Writes lines about the step just done: `opens`, that an epoch begins with
 * it; `loss`, its loss. */
void cr_run_progress_lines(struct cr_run_progress *p, bool opens, bool loss);
/* Writes the scores of the last evaluation. */
void cr_run_progress_scores(struct cr_run_progress *p);
/* Draws the bar if it is due. */
void cr_run_progress_draw(struct cr_run_progress *p);
/* An epoch has ended, with the mean training loss. `later`: the evaluation at
 * its end follows, and with it the row. */
void cr_run_progress_epoch(struct cr_run_progress *p, int64_t epoch,
                           double loss, bool later);
/* Before an evaluation, after each of its batches, and after it, with its
 * scores in the state. `row`: if no epoch has ended, it has a row of its
 * own. */
void cr_run_progress_eval_begin(struct cr_run_progress *p);
void cr_run_progress_eval_batch(struct cr_run_progress *p);
void cr_run_progress_eval_end(struct cr_run_progress *p, bool row);
/* After a checkpoint; `planned`: it was not caused by an evaluation. */
void cr_run_progress_saved(struct cr_run_progress *p, bool planned);
/* Before the next step: nothing follows for the row of the last epoch. */
void cr_run_progress_settle(struct cr_run_progress *p);
/* At the end of the run: prints what is left, and removes the bar. */
void cr_run_progress_end(struct cr_run_progress *p, enum cr_outcome end);

#endif

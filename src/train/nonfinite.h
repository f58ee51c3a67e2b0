/*
 * The policy train.nan.
 */
#ifndef CR_TRAIN_NONFINITE_H
#define CR_TRAIN_NONFINITE_H

#include "train/gradient.h"

struct cr_train;

/* Skips the update of the current step. False, with train->fault.why, if too
 * many consecutive updates were skipped. */
bool cr_train_nan_skip(struct cr_train *train, struct cr_exec *exec,
                       enum cr_gradient bad);
/* What is not finite at the current step and where it occurred first; and a
 * suggested fix (`exec` NULL: a parameter is not finite after a step). */
const char *cr_train_why(struct cr_train *train, struct cr_arena *arena,
                         struct cr_exec *exec, enum cr_gradient bad);
const char *cr_train_fix(struct cr_train *train, struct cr_exec *exec);
/* Falls back to the last good checkpoint, for the reason train->fault.why.
 * False if the policy is another one or gives up. */
bool cr_train_nan_fallback(struct cr_train *train);
/* Adds a note to a message about a loss or gradient that is not finite: the
 * loss scale may be the cause. */
void cr_train_loss_scale_note(struct cr_train *train);

#endif

/*
 * freeze.schedule: parameters that are trained from a later step on.
 */
#ifndef CR_TRAIN_UNFREEZE_H
#define CR_TRAIN_UNFREEZE_H

#include "graph/net.h"
#include "train/interval.h"

struct cr_train;

/* The update before which an entry of freeze.schedule is due. */
int64_t cr_train_unfreeze_step(const struct cr_run_length *run,
                               const struct cr_unfreeze_rule *rule);
/* Whether the entries are in order, and in units that determine their step.
 * False after reporting. */
bool cr_train_unfreeze_check(struct cr_train *train);
/* Applies the entries that are due at the current step and plans again. */
bool cr_train_unfreeze(struct cr_train *train);
/* After a fallback to an earlier step: freezes again what cr_train_unfreeze had
 * not unfrozen then. */
bool cr_train_refreeze(struct cr_train *train);

#endif

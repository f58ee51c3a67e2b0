/*
 * Parts of the preparation of a run that other modules use.
 */
#ifndef CR_TRAIN_PREPARE_H
#define CR_TRAIN_PREPARE_H

#include "data/data_loader.h"
#include "train/section.h"

struct cr_train;

/* Options of a run's training data; the number of its steps, false after
 * reporting. */
struct cr_data_loader_opts
cr_train_loader_opts(const struct cr_train_section *train, uint64_t seed);
bool cr_train_total(struct cr_config *config,
                    const struct cr_train_section *train, int64_t per_epoch,
                    int64_t *total);
/* Epochs of the run whose last update is done: batches left over at the end of
 * an epoch wait for the next update, but hold up no epoch. */
int64_t cr_train_epochs_done(const struct cr_train *train);
/* Whether updates may be skipped, by the loss scaler or by train.nan. */
bool cr_train_may_skip(const struct cr_train *train);
/* cr_plans_need_gradients of this run. */
bool cr_train_needs_gradients(const struct cr_train *train);
/* Plans the step again, after parameters were frozen or unfrozen. False after
 * reporting. */
bool cr_train_replan(struct cr_train *train);

#endif

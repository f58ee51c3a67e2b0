/*
 * The recorder of the section `watch` (build/hook.h): statistics of values and
 * gradients, as records and lines.
 *
 * An observed step is first computed with a plan of its own, which keeps the
 * output of each cell and updates nothing, and then as usual. So fusion in the
 * usual plan does not change, the run gives the same bytes with and without
 * `watch`, and other steps cost nothing.
 */
#ifndef CR_TRAIN_HOOK_RECORDER_H
#define CR_TRAIN_HOOK_RECORDER_H

#include "build/hook.h"
#include "data/data_loader.h"
#include "graph/net.h"

struct cr_train;
struct cr_hook_recorder;

/* *to is NULL if no hook observes training. Plans are made at the first
 * observed step. False after reporting. */
bool cr_hook_recorder_open(struct cr_train *train,
                           struct cr_hook_recorder **to);
/* Observes the plans of a network made from now on: those of evaluations (of
 * the run `train`, or NULL), of predictions, or of passes in training mode
 * without a run. Records go to the run's metrics.jsonl; without a run, lines
 * go to standard error. False after reporting. */
bool cr_hook_recorder_observe(struct cr_config *config, struct cr_net *net,
                              struct cr_train *train, enum cr_hook_in in);
/* Observes the next step on this batch if a hook is due. False after
 * reporting. */
bool cr_hook_recorder_step(struct cr_hook_recorder *recorder,
                           const struct cr_batch *batch);
/* Frees the plans: at the end, and before the network is planned again. */
void cr_hook_recorder_forget(struct cr_hook_recorder *recorder);

#endif

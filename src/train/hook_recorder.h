/*
 * What the section `watch` looks at (net/hook.h): numbers of values and
 * gradients, as records and lines.
 *
 * A watched step is first computed by a plan of its own that keeps every
 * cell's output and moves nothing, then as always. So what is fused stays
 * fused, the run gives the same bytes with and without `watch`, and steps
 * that are not watched cost nothing.
 */
#ifndef CR_TRAIN_HOOK_RECORDER_H
#define CR_TRAIN_HOOK_RECORDER_H

#include "data/data_loader.h"
#include "net/hook.h"
#include "net/net.h"

struct cr_train;
struct cr_hook_recorder;

/* *to is NULL if no hook observes training. Plans are made at the first
 * observed step. False after reporting. */
bool cr_hook_recorder_open(struct cr_train *train,
                           struct cr_hook_recorder **to);
/* Has the plans of a network looked at that are made from now on: those of
 * evaluations (of a run, `train`, or NULL), predictions, or passes in training
 * mode without a run. Records go to the run's metrics.jsonl; outside of a run
 * lines go to standard error. False after reporting. */
bool cr_hook_recorder_observe(struct cr_config *config, struct cr_net *net,
                              struct cr_train *train, enum cr_hook_in in);
/* Observes the next step on this batch if a hook is due. False after
 * reporting. */
bool cr_hook_recorder_step(struct cr_hook_recorder *recorder,
                           const struct cr_batch *batch);
/* Frees the plans: at the end, and before the network is planned again. */
void cr_hook_recorder_forget(struct cr_hook_recorder *recorder);

#endif

/*
 * What the section `watch` looks at (net/hook.h): numbers of values and
 * gradients, as records and lines.
 *
 * A watched step is first computed by a plan of its own that keeps every
 * cell's output and moves nothing, then as always. So what is fused stays
 * fused, the run gives the same bytes with and without `watch`, and steps
 * that are not watched cost nothing.
 */
#ifndef CR_TRAIN_WATCH_H
#define CR_TRAIN_WATCH_H

#include "data/pipe.h"
#include "net/net.h"

struct cr_train;
struct cr_watch;

/* *to is NULL where nobody looks. Plans are made at the first watched step.
 */
void cr_watch_open(struct cr_train *train, struct cr_watch **to);
/* The step that comes next, on this batch, if it is to be watched. False
 * after reporting. */
bool cr_watch_step(struct cr_watch *watch, const struct cr_batch *batch);
/* Drops its plans: at the end, and when the network is planned otherwise. */
void cr_watch_forget(struct cr_watch *watch);

#endif

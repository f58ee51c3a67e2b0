/*
 * The section `watch`: taps on the outputs and gradients of cells, MindSpore's
 * hooks as data.
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

/* Reads the section and checks its patterns; *to is NULL where there is none.
 * Plans are made at the first watched step. False after reporting. */
bool cr_watch_read(struct cr_train *train, struct cr_watch **to);
/* The step that comes next, on this batch, if it is to be watched. False
 * after reporting. */
bool cr_watch_step(struct cr_watch *watch, const struct cr_batch *batch);
/* Drops its plans: at the end, and when the network is planned otherwise. */
void cr_watch_forget(struct cr_watch *watch);

#endif

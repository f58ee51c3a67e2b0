/*
 * Running a plan: feeding columns, one step of the plan after another, what is
 * read from outside. The functions that the training loop calls are in
 * graph/net.h. Private to src/run.
 *
 * Called through graph/net.h by train/, score/ and predict/. Running a plan
 * allocates nothing and decides nothing. Knows nothing of configs and
 * records.
 *
 * Includes: base data families graph kernels mpi num plan.
 */
#ifndef CR_RUN_RUN_H
#define CR_RUN_RUN_H

#include "plan/plan.h"

/* exec.c: a plan of that graph; `prints`: of what print(...) needs alone. NULL
 * after reporting. */
struct cr_exec *cr_exec_new(struct cr_net *net, const struct cr_exec_opts *want,
                            const struct cr_graph *graph, bool prints);
/* observe.c: the plan that an observer looks at, if there is one; the same
 * step of it. False after reporting. */
bool cr_exec_observed(struct cr_exec *exec);
void cr_exec_observe_forward(struct cr_exec *exec, int64_t t);
void cr_exec_observe_backward(struct cr_exec *exec, double sens, double lr);
/* printer.c: the printer of a plan, if it needs one. False after reporting. */
bool cr_exec_printer(struct cr_exec *exec);
/* update.c: updates the parameter of a step; the rate it has in a step that
 * has `lr`. */
void cr_exec_update_step(struct cr_exec *exec, const struct cr_exec_step *step,
                         double scale, double lr);
double cr_exec_rate(const struct cr_exec *exec, int param, double lr);
/* After updates of parameters that processes share: waits for all of them. */
void cr_exec_updated(struct cr_exec *exec);
/* shard.c: the elements of a parameter whose slots that process has, and that
 * it updates: all, or a range; their number in this process. */
void cr_shard_range(const struct cr_net *net, int param, int rank,
                    int64_t *from, int64_t *to);
int64_t cr_shard_count(const struct cr_net *net, int param);
/* After an update: every process gets the other ranges of the parameter. */
void cr_shard_gather_param(const struct cr_net *net, int param);
/* Whether processes have a parameter once, in memory that all see. */
bool cr_shard_is_once(const struct cr_net *net, int param);
/* nonfinite.c: whether n values are finite that have this type in memory; those
 * of integer types are. */
bool cr_all_finite(enum cr_type type, const void *x, int64_t n);

#endif

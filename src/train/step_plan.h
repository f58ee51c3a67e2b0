/*
 * Options of the plan of a training step, from the sections of a config: for
 * train, and for commands that look at its plan (summary, bench, trace).
 */
#ifndef CR_TRAIN_STEP_PLAN_H
#define CR_TRAIN_STEP_PLAN_H

#include "run/plans.h"
#include "train/optim.h"
#include "train/section.h"

/* Whether gradients are observed or changed between the backward pass and the
 * update. */
bool cr_plans_need_gradients(const struct cr_train_section *train,
                             const struct cr_log_section *log,
                             const struct cr_optim_use *optim);

/* Whether no gradient of a parameter is changed, or looked at for itself,
 * before its update: struct cr_exec_opts. */
bool cr_plans_private_gradients(const struct cr_train_section *train);

/* What the processes of mpirun send in a step; before the first plan. */
void cr_plans_processes(struct cr_net *net,
                        const struct cr_train_section *train);

/* cr_plans_train with the settings of the config; reads its section train into
 * *train. False after reporting. */
bool cr_plans_train_of(struct cr_config *config,
                       const struct cr_optim_use *optim,
                       struct cr_train_section *train, struct cr_exec_opts *to);

#endif

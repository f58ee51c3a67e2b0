/*
 * What `trace --grad` differentiates, and with respect to what: its options
 * --wrt and --sens.
 */
#ifndef CR_TRAIN_GRAD_TARGETS_H
#define CR_TRAIN_GRAD_TARGETS_H

#include "conf/opt.h"
#include "net/net.h"

/* Per parameter and per column; both NULL where --wrt is not given. */
struct cr_grad_targets {
    bool *params, *columns;
};

/* From patterns over names of columns and parameters, and positions among the
 * inputs of the network. False after reporting. */
bool cr_grad_targets_read(struct cr_arena *arena, struct cr_config *config,
                          const struct cr_net *net, const struct cr_strs *wrt,
                          struct cr_grad_targets *to);
/* Warns about each column of them that none of the gradients belongs to. */
void cr_grad_targets_check(struct cr_arena *arena, struct cr_diag *diag,
                           const struct cr_net *net,
                           const struct cr_grad_targets *targets,
                           const struct cr_tensor *grads, int n);
/* The gradients that arrive at the network's results: FILE.npy, or N=FILE.npy
 * for each of several. False after reporting. */
bool cr_grad_sens_read(struct cr_arena *arena, struct cr_diag *diag,
                       struct cr_exec *exec, const struct cr_strs *sens);

#endif

/*
 * Options --wrt and --sens of `trace --grad`: what is differentiated, and with
 * respect to what.
 */
#ifndef CR_MODEL_GRAD_TARGETS_H
#define CR_MODEL_GRAD_TARGETS_H

#include "conf/opt.h"
#include "graph/net.h"

/* Flags per parameter and per column; both are NULL without --wrt. */
struct cr_grad_targets {
    bool *params, *columns;
};

/* Reads --wrt: patterns of names of columns and parameters, and indices of the
 * network's inputs. False after reporting an error. */
bool cr_grad_targets_read(struct cr_arena *arena, struct cr_config *config,
                          const struct cr_net *net, const struct cr_strs *wrt,
                          struct cr_grad_targets *to);
/* Warns about each selected column that has no gradient. */
void cr_grad_targets_check(struct cr_arena *arena, struct cr_diag *diag,
                           const struct cr_net *net,
                           const struct cr_grad_targets *targets,
                           const struct cr_tensor *grads, int n);
/* Reads --sens, the gradients at the results of the network: FILE.npy, or
 * N=FILE.npy for each of several. False after reporting an error. */
bool cr_grad_sens_read(struct cr_arena *arena, struct cr_diag *diag,
                       struct cr_exec *exec, const struct cr_strs *sens);

#endif

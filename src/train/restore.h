/*
 * A checkpoint's tensors into a network.
 */
#ifndef CR_TRAIN_RESTORE_H
#define CR_TRAIN_RESTORE_H

#include "ckpt/checkpoint.h"
#include "net/net.h"

/* Fills all parameters, and with `slots` the optimizer's slots too. Tensors
 * that are missing, of another shape or (but for slots that nobody asked
 * for) not the network's are reported, all of them: E0305. */
bool cr_net_restore(struct cr_net *net, struct cr_store *store,
                    struct cr_diag *diag, bool slots);

#endif

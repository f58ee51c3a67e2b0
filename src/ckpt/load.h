/*
 * Weights into a network, by name: the section `load`, and whole checkpoints.
 */
#ifndef CR_CKPT_LOAD_H
#define CR_CKPT_LOAD_H

#include "ckpt/checkpoint.h"
#include "conf/config.h"
#include "net/net.h"

struct cr_load_report {
    int loaded, skipped, missing, unused;
    /* lines, without a newline after the last; NULL: no section `load` */
    const char *text;
};

/* Does what the section `load` says, if there is one. `path`, when not NULL,
 * is loaded instead of its ckpt (train --load), relative to the current
 * directory. Reports all that does not fit at once. A network without values
 * gets none: its load is checked, no more. */
bool cr_load(struct cr_config *config, struct cr_net *net, const char *path,
             struct cr_load_report *report);

/* Every parameter and moving statistic from the tensor of its name; all that
 * is missing or misshapen is reported. With `exact` also what the file has
 * too much, but for optimizer slots and state of ours. */
bool cr_load_weights(struct cr_tensor_file *file, struct cr_diag *diag,
                     struct cr_net *net, bool exact);

/* The network's optimizer slots from the tensors of their names; all that is
 * missing or misshapen is reported. */
bool cr_load_slots(struct cr_tensor_file *file, struct cr_diag *diag,
                   const struct cr_net *net);
/* Likewise the moving means that the network keeps. */
bool cr_load_means(struct cr_tensor_file *file, struct cr_diag *diag,
                   const struct cr_net *net);

#endif

/*
 * Loading weights into a network by name: the section `load`, and whole
 * checkpoints.
 */
#ifndef CR_CKPT_LOAD_H
#define CR_CKPT_LOAD_H

#include "ckpt/checkpoint.h"
#include "conf/config.h"
#include "graph/net.h"

struct cr_load_report {
    int loaded, skipped, missing, unused;
    /* lines, without a newline after the last; NULL: no section `load` */
    const char *text;
};

/* Loads weights as set in the section `load`; does nothing without it. `path`,
 * when not NULL, replaces its ckpt (train --load) and is relative to the
 * current directory. All mismatches are reported at once; false after
 * reporting. For a network without values the load is only checked. */
bool cr_load(struct cr_config *config, struct cr_net *net, const char *path,
             struct cr_load_report *report);

/* Loads every parameter and moving statistic from the tensor of its name;
 * false after reporting all that are missing or have another shape. With
 * `exact` unexpected tensors of the file are errors too, except optimizer
 * slots and state of cellrun. Where the file of another program lacks names,
 * its tensors have those that load.rename of the config gives them. */
bool cr_load_weights(struct cr_tensor_file *file, struct cr_config *config,
                     struct cr_net *net, bool exact);

/* The tensor of the file that cr_load_weights loads into each parameter; NULL
 * after reporting those that are missing or have another shape. */
const struct cr_tensor_info **cr_load_entries(struct cr_tensor_file *file,
                                              struct cr_config *config,
                                              struct cr_net *net);

/* Whether a tensor of the file is not a weight but other state of a run: an
 * optimizer slot, a counter or state of cellrun. Slots are recognised by the
 * names of the network's parameters; without `net` (NULL), by the slot names of
 * MindSpore before the name of another tensor of the file. */
bool cr_load_is_run_state(struct cr_tensor_file *file, const struct cr_net *net,
                          const char *name);

/* Loads the network's optimizer slots from the tensors of their names; false
 * after reporting all that are missing or have another shape. */
bool cr_load_slots(struct cr_tensor_file *file, struct cr_diag *diag,
                   const struct cr_net *net);
/* Likewise the exponential moving averages that the network keeps. */
bool cr_load_means(struct cr_tensor_file *file, struct cr_diag *diag,
                   const struct cr_net *net);

#endif

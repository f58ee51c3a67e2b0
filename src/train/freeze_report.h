/*
 * A report on the parameters that `freeze` keeps from being trained.
 */
#ifndef CR_TRAIN_FREEZE_REPORT_H
#define CR_TRAIN_FREEZE_REPORT_H

#include "net/net.h"

/* The lines, without a newline behind the last; "" where nothing is frozen.
 * `when` says of an entry of the schedule when it is due: "epoch 3". */
const char *cr_freeze_report(
    struct cr_arena *arena, struct cr_net *net,
    const char *(*when)(const void *of, const struct cr_unfreeze_rule *thaw),
    const void *of);

#endif

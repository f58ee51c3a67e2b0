/*
 * A report on the parameters that `freeze` keeps from being trained.
 */
#ifndef CR_TRAIN_FREEZE_REPORT_H
#define CR_TRAIN_FREEZE_REPORT_H

#include "graph/net.h"

/* The report in lines, without a final newline; "" if nothing is frozen.
 * `when` returns when an unfreeze rule applies, such as "epoch 3". Memory is
 * owned by the arena. */
const char *cr_freeze_report(
    struct cr_arena *arena, struct cr_net *net,
    const char *(*when)(const void *of, const struct cr_unfreeze_rule *rule),
    const void *of);

#endif

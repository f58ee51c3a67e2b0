/*
 * The destination of print(...) and of plug-ins' output: run.print.
 */
#ifndef CR_TRAIN_PRINT_H
#define CR_TRAIN_PRINT_H

#include "conf/config.h"
#include "console/console.h"
#include "graph/op.h"

/* For cr_net_opts; NULL: nothing is printed, or the section was wrong, which
 * was reported. `console`: of the run; NULL: standard error alone. */
const struct cr_print *cr_print_open(struct cr_config *config,
                                     struct cr_console *console);

#endif

/*
 * Conditions on runs, such as 'status=completed and accuracy>0.9'.
 */
#ifndef CR_RUNDIR_RUN_WHERE_H
#define CR_RUNDIR_RUN_WHERE_H

#include "rundir/run_column.h"

/* Keeps the runs that satisfy the condition: comparisons separated by `and` or
 * a comma. A run without the value fails every comparison except "!=". False
 * after reporting what cannot be read, or a column that no run has. */
bool cr_runs_where(struct cr_runs *runs, const char *expr);

#endif

/*
 * The status of a run. Its record has `running` until the run writes another
 * status at its end; a run that was killed never does.
 */
#ifndef CR_RUNDIR_RUN_STATUS_H
#define CR_RUNDIR_RUN_STATUS_H

#include "ckpt/run_index.h"

/* Replaces the status `running` of the record by `interrupted` if no live
 * process holds the lock of the run directory (rundir/run_lock.h). A run that
 * has ended since its record was read gets its new record. */
void cr_run_settle_status(struct cr_runs *runs, struct cr_run *run);
/* The same for all runs. */
void cr_runs_settle_status(struct cr_runs *runs);

/* The status; "" if the record has none. */
const char *cr_run_status(const struct cr_run *run);
/* Whether the run is still running, once its status is settled. */
bool cr_run_is_running(const struct cr_run *run);

#endif

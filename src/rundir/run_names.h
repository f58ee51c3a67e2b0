/*
 * Runs as a command line names them: by a run directory, by a path below the
 * folder of runs, by the beginning of an id, or by a folder that contains runs,
 * such as that of a sweep.
 */
#ifndef CR_RUNDIR_RUN_NAMES_H
#define CR_RUNDIR_RUN_NAMES_H

#include "ckpt/run_index.h"

/* The folder of runs: CELLRUN_RUNS, else "runs". */
const char *cr_runs_folder(void);

/* Adds the runs that `name` stands for, oldest first, but none twice; dir is
 * the folder of runs. A directory with metrics.jsonl but without a readable
 * record.json is a run with an empty record. Statuses are settled
 * (rundir/run_status.h). False after reporting at pos that
 * there is none or that an id is ambiguous. */
bool cr_runs_add_named(struct cr_runs *runs, const char *dir, const char *name,
                       struct cr_pos pos);

/* The same for a name that must stand for one run, which is added unless it is
 * there already. */
bool cr_runs_add_one(struct cr_runs *runs, const char *dir, const char *name,
                     struct cr_pos pos);

/* The directory of each run without the folders that all have in common: what
 * distinguishes them. */
const char *const *cr_runs_labels(const struct cr_runs *runs);

#endif

/*
 * Files in run directories, by their names; cellrun-formats(7) describes them.
 */
#ifndef CR_RUNDIR_RUN_FILES_H
#define CR_RUNDIR_RUN_FILES_H

#include <stdbool.h>

/* The files with fixed names. Ends with NULL; record.json is the last one,
 * because it identifies the run and is removed after the others. */
extern const char *const cr_run_files[];

/* Whether a run or `cellrun report` writes a file of this name to the run
 * directory, temporary files and locks included. */
bool cr_run_is_file(const char *name);

/* Whether a run writes a file of this name to the folder `ckpt`. */
bool cr_run_is_ckpt(const char *name);

/* Whether the name is that of a file under construction, or of a claim on the
 * lock. */
bool cr_run_is_temporary(const char *name);

#endif

/*
 * Deleting run directories.
 *
 * Only files that a run writes are deleted (rundir/run_files.h), under the lock
 * of the run, and no symbolic link is followed. A directory without other
 * entries is renamed to .NAME.removed.PID first: the run is there or gone, even
 * if the process is killed, and `cellrun runs gc` deletes what such a process
 * left. A directory with other entries stays with them, and loses record.json
 * last.
 */
#ifndef CR_RUNDIR_RUN_REMOVE_H
#define CR_RUNDIR_RUN_REMOVE_H

#include "base/diag.h"

struct cr_run_contents {
    int files;     /* that a run writes */
    int64_t bytes; /* of these files; hard links count once */
    int n_others;
    const char **other; /* names of the other entries */
};

/* Lists what a run directory contains. False, with errno, if the path is not a
 * directory or cannot be read; a symbolic link is not a directory. */
bool cr_run_contents(struct cr_arena *arena, const char *path,
                     struct cr_run_contents *to);

/* Deletes a run directory; false after reporting. unbegun: only one without
 * record.json; a run that has begun meanwhile stays, which is no error. */
bool cr_run_remove(struct cr_arena *arena, struct cr_diag *diag,
                   const char *path, bool unbegun);

/* Whether the name is that of a directory whose removal was begun. */
bool cr_run_is_removed(const char *name);

/* Deletes such a directory; false after reporting. */
bool cr_run_remove_rest(struct cr_arena *arena, struct cr_diag *diag,
                        const char *path);

#endif

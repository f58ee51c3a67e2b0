/*
 * The lock of a run directory.
 *
 * The file `lock` has one line: host, process, start of that process (field 22
 * of its stat in /proc), boot id of the machine, and pid namespace. The owner
 * holds the kernel's lock on the file (flock) for its whole life, and a thread
 * touches the file every few seconds.
 *
 * - A file whose kernel lock is held has a living owner, whatever its line
 *   says: in another container with the same host name, for example.
 * - A file whose kernel lock is free, and whose owner ran on this very system,
 *   has a dead owner.
 * - Otherwise (another machine on a file system whose locks are local, or a
 *   file system without locks) its time of change decides.
 */
#ifndef CR_RUNDIR_RUN_LOCK_H
#define CR_RUNDIR_RUN_LOCK_H

#include <pthread.h>
#include <sys/types.h>

#include "base/diag.h"

struct cr_run_lock {
    const char *path;       /* NULL: not held */
    const char *folder;
    dev_t dev;              /* of the folder, if it is known */
    ino_t ino;              /* 0: it is not */
    double beat;            /* seconds between touches; 0: the default */
    /* Optional: called with the path when the lock is taken, and with NULL when
     * it is released or lost, so that a signal handler can remove it. */
    void (*on_change)(const char *path);
    int fd;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    bool stop;
    bool lost;              /* atomic: another process has taken it */
};

/* Takes the lock of a folder. False after reporting: exit 2 if another process
 * holds it, 1 if the folder cannot be written. */
bool cr_run_lock_take(struct cr_arena *arena, struct cr_diag *diag,
                      struct cr_run_lock *lock, const char *folder);
/* Whether a living process seems to hold the lock of a folder. The lock is not
 * taken. */
bool cr_run_lock_is_live(struct cr_arena *arena, const char *folder);
/* The folder of the lock has been renamed to this one. */
void cr_run_lock_moved(struct cr_arena *arena, struct cr_run_lock *lock,
                       const char *folder);
/* Whether another process has taken the lock, as it may from a machine whose
 * process did not run for minutes, or another folder has the name: by the last
 * heartbeat. */
bool cr_run_lock_lost(const struct cr_run_lock *lock);
/* The same, at this moment: before files are written. */
bool cr_run_lock_lost_now(struct cr_run_lock *lock);
/* Releases the lock, if it is held. */
void cr_run_lock_release(struct cr_run_lock *lock);

#endif

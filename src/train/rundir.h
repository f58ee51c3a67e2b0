/*
 * A run directory (config.md section 6): who may use it, and its files.
 *
 *   config.yaml, resolved.yaml, command, record.json, metrics.jsonl, log.txt
 *   ckpt/       checkpoints
 *   lock        while a process works here: host, process and its start
 *
 * The lock is taken by link(), which is atomic on NFS too, and says by its
 * time of change that its owner lives (it is touched every few seconds). On
 * the same host a dead owner is noticed at once.
 */
#ifndef CR_TRAIN_RUNDIR_H
#define CR_TRAIN_RUNDIR_H

#include "base/str.h"

enum cr_run_how {
    CR_RUN_NEW,     /* the directory must be empty, or not exist */
    CR_RUN_FORCE,   /* the old run's files go */
    CR_RUN_RESUME   /* they stay */
};

struct cr_rundir {
    struct cr_arena *arena;
    struct cr_diag *diag;
    const char *path, *ckpt;    /* the directory, and the one in it */
    const char *lock;           /* NULL: not held */
    double beat_next;
    FILE *metrics;
};

/* Makes the directory and takes its lock. False after reporting: exit 2 for
 * a directory that is used or held, 1 for one that cannot be written. */
bool cr_rundir_open(struct cr_rundir *dir, const char *path,
                    enum cr_run_how how);
/* Gives the lock back. */
void cr_rundir_close(struct cr_rundir *dir);
/* Removes an old run's files; under the lock. */
void cr_rundir_clear(struct cr_rundir *dir);

/* Says that we live, when it is time to. */
void cr_rundir_beat(struct cr_rundir *dir, double now);

/* Writes a file of the directory atomically. False after reporting. */
bool cr_rundir_put(struct cr_rundir *dir, const char *name, const char *text);

/* Where a file of the directory is. */
const char *cr_rundir_file(const struct cr_rundir *dir, const char *name);

/* metrics.jsonl, to be added to. Of an old one the records that `keep` says
 * yes to stay, in their order. False after reporting. */
bool cr_rundir_metrics(struct cr_rundir *dir,
                       bool (*keep)(void *ctx, const char *line), void *ctx);

/* The run directory that holds a checkpoint file: DIR of DIR/ckpt/X; NULL if
 * it lies in none. */
const char *cr_rundir_of(struct cr_arena *arena, const char *ckpt);

#endif

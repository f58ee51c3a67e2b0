/*
 * A run directory: who may use it, and its files, which cellrun-formats(7)
 * describes.
 *
 *   config.yaml, resolved.yaml, command, record.json, metrics.jsonl, log.txt
 *   ckpt/       checkpoints
 *   lock        while a process works here: rundir/run_lock.h
 *
 * The folder is a run's if record.json is, which is written before the other
 * files and removed after them.
 *
 * Called by train/, which writes it, and by sweep/, runs/ and report/, which
 * read it while it is written. Knows nothing of networks and of the training
 * loop.
 *
 * Includes: base ckpt conf tensorboard.
 */
#ifndef CR_RUNDIR_RUNDIR_H
#define CR_RUNDIR_RUNDIR_H

#include "base/append_file.h"
#include "base/str.h"
#include "conf/source_dir.h"
#include "rundir/run_lock.h"

struct cr_node;

enum cr_run_mode {
    CR_RUN_NEW,     /* the directory must be empty, or not exist */
    CR_RUN_FORCE,   /* files of the old run are removed */
    CR_RUN_RESUME   /* files of the run are kept */
};

struct cr_rundir {
    struct cr_arena *arena;
    struct cr_diag *diag;
    const char *path, *ckpt; /* the directory, and its folder ckpt */
    struct cr_run_lock lock;
    const struct cr_source_dir
        *sources;               /* files that the config is read from */
    const char *config_file;    /* the first of them; or NULL */
    struct cr_append_file metrics;
};

/* Makes the directory and takes its lock. False after reporting: exit 2 for
 * a directory that is used or held, 1 for one that cannot be written. */
bool cr_rundir_open(struct cr_rundir *dir, const char *path,
                    enum cr_run_mode mode);
/* Releases the lock. */
void cr_rundir_close(struct cr_rundir *dir);
/* Removes the files of an old run, under the lock, if record.json identifies
 * them as a run's, but no file of the config. False after reporting if a file
 * remains that the new run would replace. */
bool cr_rundir_clear(struct cr_rundir *dir);
/* Whether a folder without a record has no file that a run would replace or
 * use. False after reporting. */
bool cr_rundir_is_free(struct cr_rundir *dir);
/* Reads record.json; NULL if there is no record of a run. False after
 * reporting that it cannot be read. */
bool cr_rundir_record(const struct cr_rundir *dir, const struct cr_node **to);

/* Writes a file of the directory atomically. False after reporting. */
bool cr_rundir_put(struct cr_rundir *dir, const char *name, const char *text);

/* The path of a file of the directory. */
const char *cr_rundir_file(const struct cr_rundir *dir, const char *name);

/* Opens metrics.jsonl for appending, keeping the records of an old one for
 * which `keep` returns true. False after reporting. */
bool cr_rundir_metrics(struct cr_rundir *dir,
                       bool (*keep)(void *ctx, const char *line), void *ctx);

/* The run directory of a checkpoint file: DIR of DIR/ckpt/X; NULL if the file
 * is not in a run directory. */
const char *cr_rundir_of(struct cr_arena *arena, const char *ckpt);

#endif

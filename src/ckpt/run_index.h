/*
 * Run directories on the disk and their records, which train/run_record.c
 * writes and the command `runs` reads.
 */
#ifndef CR_CKPT_RUN_INDEX_H
#define CR_CKPT_RUN_INDEX_H

#include "ckpt/json.h"
#include "ckpt/run_config.h"

struct cr_run {
    const char *path;
    struct cr_node *record;       /* record.json: a map */
    const char *started;          /* its member, or "" */
    const struct cr_node *eval;   /* its member, or NULL */
    struct cr_run_settings settings; /* resolved.yaml, once asked for */
    bool settings_read;
};

struct cr_runs {
    struct cr_arena *arena; /* must be set */
    struct cr_diag *diag;   /* must be set */
    int n, cap;
    struct cr_run *run;
    struct cr_run_sheet *sheets; /* of the configs read so far */
};

/* Adds the run of a directory; false if the directory is not a run directory.
 * An unreadable record is reported as a warning and skipped. A run without
 * `eval` in its record (it is still running) gets the last evaluation of its
 * metrics.jsonl. */
bool cr_runs_add(struct cr_runs *runs, const char *path);

/* Adds all run directories in a folder, at most two levels deep, oldest
 * first. */
void cr_runs_search(struct cr_runs *runs, const char *dir);

/* Orders struct cr_run for qsort: by start time, then by path. */
int cr_runs_oldest(const void *a, const void *b);

/* The run's resolved config; NULL if it cannot be read. */
const struct cr_node *cr_run_config(struct cr_runs *runs, struct cr_run *run);

/* Reads resolved.yaml of all runs, if not done yet. */
void cr_runs_read_settings(struct cr_runs *runs);

/* The value of a key of the resolved config, as of cr_node_find; NULL: none. */
const struct cr_node *cr_run_setting(struct cr_runs *runs, struct cr_run *run,
                                     const char *path);

/* The value of a name in a run: a metric of the last evaluation (`eval.` is
 * optional), `best.METRIC`, or a key of the record or of the config, with dots
 * between nested keys; types are optional. NULL: not found. */
const struct cr_node *cr_run_value(struct cr_runs *runs, struct cr_run *run,
                                   const char *name);

/* The text of a file of a run directory, with a NUL after it. NULL: it is not a
 * regular file, cannot be read, or is larger than max. Reading others, such as
 * FIFOs, could wait for ever. */
char *cr_run_file(struct cr_arena *arena, const char *path, size_t max,
                  size_t *len);

/* "accuracy" of "eval.accuracy". */
const char *cr_run_bare(const char *name);

#endif

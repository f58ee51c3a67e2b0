/*
 * Run directories that lie on the disk, and what their records say. Written
 * by train/run_record.c; looked at by the command runs.
 */
#ifndef CR_CKPT_RUN_INDEX_H
#define CR_CKPT_RUN_INDEX_H

#include "ckpt/json.h"

struct cr_run {
    const char *path;
    struct cr_node *record;       /* record.json: a map */
    const struct cr_node *config; /* resolved.yaml, once asked for */
    bool config_read;
};

struct cr_runs {
    struct cr_arena *arena; /* must be set */
    struct cr_diag *diag;   /* must be set */
    int n, cap;
    struct cr_run *run;
};

/* Adds the run of a directory; false if it is none. What cannot be read is
 * told as a warning and left out. A run without `eval` in its record (it is
 * under way) gets the last evaluation of its metrics.jsonl. */
bool cr_runs_add(struct cr_runs *runs, const char *path);

/* Adds all below a folder, at most two levels deep, oldest first. */
void cr_runs_search(struct cr_runs *runs, const char *dir);

/* By their start, then by path: for qsort over struct cr_run. */
int cr_runs_oldest(const void *a, const void *b);

/* The run's resolved config; NULL if there is none to be read. */
const struct cr_node *cr_run_config(struct cr_runs *runs, struct cr_run *run);

/* What a name means in a run: a metric of the last evaluation (`eval.` may
 * be left out), `best.METRIC`, a key of the record or of the config, with
 * dots into maps; types may be left out. NULL: nothing. */
const struct cr_node *cr_run_value(struct cr_runs *runs, struct cr_run *run,
                                   const char *name);

/* "accuracy" of "eval.accuracy". */
const char *cr_run_bare(const char *name);

#endif

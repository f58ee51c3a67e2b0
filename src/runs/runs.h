/*
 * The subcommands of `cellrun runs`: one file each, listed in
 * src/runs/subcommands.c. src/commands/runs.c reads the flags, finds the runs
 * and calls them.
 *
 * Called by the command runs, which finds the subcommand in its table. Knows
 * nothing of networks and of the training loop.
 *
 * Includes: base ckpt conf rundir score.
 */
#ifndef CR_RUNS_RUNS_H
#define CR_RUNS_RUNS_H

#include "base/str.h"
#include "ckpt/run_index.h"
#include "conf/command_line.h"

struct cr_runs_opts {
    const char *sort, *cols, *group_by, *where, *metric, *dir, *out;
    bool tsv, path, dry_run, yes;
};

struct cr_runs_job {
    struct cr_cli *cli;
    struct cr_arena *arena;
    const struct cr_runs_opts *o;
    const char *dir;      /* the folder of runs */
    struct cr_runs found; /* all runs in it; of a subcommand with `searches`,
                             those that satisfy --where */
    bool filtered;        /* no run matches --where */
};

struct cr_runs_sub {
    const char *name;
    int min, max;  /* number of runs among the operands; max -1: any number */
    bool searches; /* needs `found` */
    void (*run)(struct cr_runs_job *job);
};

extern const struct cr_runs_sub cr_runs_sub_best, cr_runs_sub_diff,
    cr_runs_sub_export, cr_runs_sub_gc, cr_runs_sub_ls, cr_runs_sub_rm,
    cr_runs_sub_show;

/* Ends with NULL. */
extern const struct cr_runs_sub *const cr_runs_subs[];

/* ---- For several subcommands */

/* The run that an operand names; NULL after reporting. */
struct cr_run *cr_runs_operand(struct cr_runs_job *job, int operand);

bool cr_runs_is_number(const struct cr_node *node);

/* Whether larger values are better: as checkpoint.best.mode in the records
 * says, else by the metric. */
bool cr_runs_larger(const struct cr_runs_job *job, const char *name);

/* Whether the name is that of a metric. */
bool cr_runs_is_metric(const char *name);

/* Sorts the runs by the column that --sort names: runs without a value are
 * last, and runs with equal values are ordered by start. */
void cr_runs_sort(struct cr_runs_job *job);

/* Appends the record as JSON, with the member `path`. */
void cr_runs_json(struct cr_runs_job *job, const struct cr_run *run,
                  struct cr_buf *to);

/* ---- Deleting */

/* "17 bytes", "1.2 MiB" */
const char *cr_runs_size(struct cr_arena *arena, int64_t bytes);

/* Whether --yes or a terminal that can be asked allows to delete, or --dry-run
 * makes it needless. False after reporting. */
bool cr_runs_may_delete(struct cr_runs_job *job);

/* Whether to delete what has been listed: asks unless --yes is set. */
bool cr_runs_confirm(struct cr_runs_job *job, const char *question);

#endif

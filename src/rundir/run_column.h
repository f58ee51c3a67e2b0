/*
 * Columns of tables of runs: metrics, keys of record.json and of the config,
 * as cr_run_value finds them, and `run`, the directory.
 */
#ifndef CR_RUNDIR_RUN_COLUMN_H
#define CR_RUNDIR_RUN_COLUMN_H

#include "ckpt/run_index.h"

/* Whether the column is the directory of the run, which is no node. */
bool cr_run_is_path(const char *name);

/* A value with all its digits; "" for none. */
const char *cr_run_text(struct cr_arena *arena, const struct cr_node *node);

/* Text without blanks around it; it is shortened in place. */
char *cr_run_trim(char *text);

/* Whether some run has the column. False after reporting, as of the option
 * with this name, the closest column and the columns there are. Without runs
 * every column is accepted. */
bool cr_runs_has(struct cr_runs *runs, const char *option, const char *name);

#endif

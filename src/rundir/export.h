/*
 * The records of runs as a table.
 */
#ifndef CR_RUNDIR_EXPORT_H
#define CR_RUNDIR_EXPORT_H

#include "ckpt/run_index.h"

/* Appends a header and one row for each record of metrics.jsonl, run by run in
 * the order of the file: run, split, step, epoch, samples, t, then the numbers
 * of all records by name. null and absent numbers are empty. Separated by
 * commas and quoted according to RFC 4180, or by tabs. False after reporting
 * that a file cannot be read or that there are no records. */
bool cr_runs_export(struct cr_runs *runs, bool tabs, struct cr_buf *to);

/* Writes the records of one run to metrics.csv in its directory, without the
 * column run. False after reporting. */
bool cr_run_export_csv(struct cr_arena *arena, struct cr_diag *diag,
                       const char *dir);

#endif

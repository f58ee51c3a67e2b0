/*
 * Means and standard deviations over runs, such as those that differ in their
 * seeds only.
 */
#ifndef CR_RUNDIR_RUN_GROUPS_H
#define CR_RUNDIR_RUN_GROUPS_H

#include "base/table.h"
#include "rundir/run_column.h"

/* Adds a table with one row per group of runs that have the same values of the
 * columns (separated by commas): these values, the number of runs n, and each
 * metric of the last evaluation as mean ± sample standard deviation; exact: in
 * two columns with all digits. Sets to->align. False after reporting. */
bool cr_run_groups_table(struct cr_runs *runs, const char *columns, bool exact,
                         struct cr_table *to);

/* Appends the same as a JSON list of objects. False after reporting. */
bool cr_run_groups_json(struct cr_runs *runs, const char *columns,
                        struct cr_buf *to);

#endif

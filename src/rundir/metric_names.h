/*
 * Metrics as a command line names them: with their split, such as
 * eval.accuracy, or without it.
 */
#ifndef CR_RUNDIR_METRIC_NAMES_H
#define CR_RUNDIR_METRIC_NAMES_H

#include "rundir/curves.h"

#define CR_METRIC_SPLITS 64 /* that a name without split may stand for */

/* Different texts in the order of their addition. */
struct cr_names {
    struct cr_arena *arena; /* must be set */
    int n, cap;
    const char **name;
};

void cr_names_add(struct cr_names *names, const char *name);
/* The parts of a text between commas, without blanks around them. */
struct cr_names cr_names_split(struct cr_arena *arena, const char *text);

/* The curves of a run that a metric names: one if the name has its split; else
 * those of train and eval, or those of any other split. Writes at most `most`,
 * returns their number. */
int cr_metric_columns(const struct cr_run_series *run, const char *metric,
                      struct cr_curve *to, int most);

/* What to show if nothing is asked for: loss, and the other metrics of the
 * evaluation; without these, the numbers of training. */
struct cr_names cr_metric_defaults(struct cr_arena *arena,
                                   const struct cr_run_series *run,
                                   int n_runs);

/* Reports that no run has the metric, with the closest name and a list. */
void cr_metric_unknown(struct cr_diag *diag, const struct cr_run_series *run,
                       int n_runs, const char *metric);

#endif

/*
 * Curves of runs, ready to be drawn: one metric of one run, or the mean of
 * several runs.
 */
#ifndef CR_RUNDIR_CURVES_H
#define CR_RUNDIR_CURVES_H

#include "ckpt/run_index.h"
#include "rundir/series.h"

struct cr_curve {
    const char *split, *name; /* "eval", "accuracy" */
    int runs;                 /* 1, or the number of runs of a mean */
    int64_t n;
    const double *step, *epoch, *time; /* see struct cr_series */
    const double *value;               /* NAN: a gap */
    const double *deviation; /* standard deviation over the runs, NAN where
                                fewer than two have the step; NULL: no mean */
};

/* The curve of a column. */
struct cr_curve cr_curve_of(const struct cr_series *series,
                            const struct cr_series_column *column);

/* The mean of curves at each step that one of them has, over those that have
 * it and are finite there: mean = sum y / k, deviation =
 * sqrt(sum (y - mean)^2 / (k - 1)). Epoch and time are means too. */
struct cr_curve cr_curve_mean(struct cr_arena *arena,
                              const struct cr_curve *curve, int n);

/* Exponential moving average with the correction of its bias towards 0 (Kingma
 * and Ba, "Adam", 2015, section 3), as TensorBoard smooths:
 *
 *   a_i = weight a_(i-1) + (1 - weight) y_i,   s_i = a_i / (1 - weight^i)
 *
 * with i counted from 1 over finite values; others are copied. */
const double *cr_curve_smooth(struct cr_arena *arena, const double *y,
                              int64_t n, double weight);

/* Runs with the same values of some keys. */
struct cr_run_group {
    const char *label; /* "learning_rate=0.1", "" for the only one */
    int n;
    const int *run; /* indices */
};

/* Groups runs by the values of the keys (see cr_run_value), in the order of
 * their first runs; *n_groups is their number. NULL after reporting that no run
 * has such a key. */
const struct cr_run_group *cr_runs_group_by(struct cr_runs *runs,
                                            const char *const *keys,
                                            int n_keys, int *n_groups);

/* The keys of the config in which the runs differ, but those of `run` and
 * `except`. */
const char *const *cr_runs_varied(struct cr_runs *runs, const char *except,
                                  int *n);

#endif

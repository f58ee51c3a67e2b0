/*
 * The lengths of a run, and the intervals at which it evaluates, saves and
 * logs.
 */
#ifndef CR_TRAIN_INTERVAL_H
#define CR_TRAIN_INTERVAL_H

#include "conf/config.h"

struct cr_run_length {
    int64_t batch;      /* samples */
    int64_t per_epoch;  /* batches */
    int64_t grad_accum; /* batches per step */
    int64_t total;      /* steps of the run */
    int64_t stop_after; /* step after which the run stops; INT64_MAX: none */
    double time_limit;  /* seconds; 0: none */
};

/* An interval in steps or seconds. */
struct cr_interval {
    double steps, seconds;  /* one of the two; else 0 */
    bool within; /* epochs end within steps of several batches: due before such
                    a step, not after it */
};

struct cr_run_intervals {
    struct cr_interval eval, save, log;
};

struct cr_interval cr_run_interval(const struct cr_run_length *run,
                                   const struct cr_quantity *quantity);
/* Whether the interval is due after this step. */
bool cr_interval_due(const struct cr_interval *every, int64_t step);
/* The smallest integer that is at least x, up to rounding errors of x. */
double cr_interval_ceil(double x);
/* How many times the interval is due after this step, and the number of the
 * first of these times, from 1. More than once if a step takes more batches
 * than an epoch has. */
int64_t cr_interval_times(const struct cr_interval *every, int64_t step,
                          int64_t *first);

#endif

/*
 * Estimate of the remaining time of a run, from the durations of what it did so
 * far: steps, and the jobs between steps. It reads no clock.
 *
 *   left = steps s + sum over jobs of count c
 *
 * with the mean duration s of a step and c of a job over the recent half of
 * those seen, so that a slow start or another load of the machine is forgotten.
 */
#ifndef CR_CONSOLE_ETA_H
#define CR_CONSOLE_ETA_H

#include "console/trend.h"

enum cr_eta_job {
    CR_ETA_EVAL, /* an evaluation and what it causes, such as a checkpoint */
    CR_ETA_SAVE, /* a checkpoint that is due by itself */
    CR_ETA_JOBS
};

struct cr_eta {
    struct cr_trend step, job[CR_ETA_JOBS]; /* durations in seconds */
};

/* What remains to be done. */
struct cr_eta_work {
    double steps;
    struct {
        double count;    /* jobs that depend on the step */
        double interval; /* > 0: one more whenever that many seconds have passed
                            since the last one */
        double guess;    /* duration before one was seen, in steps */
    } job[CR_ETA_JOBS];
};

/* Adds the duration of a step or of a job. */
void cr_eta_step(struct cr_eta *eta, double seconds);
void cr_eta_job(struct cr_eta *eta, enum cr_eta_job job, double seconds);

/* Seconds of a step; NAN before the first one. */
double cr_eta_step_seconds(const struct cr_eta *eta);
/* Seconds that the work will take; NAN before the first step. */
double cr_eta_left(const struct cr_eta *eta, const struct cr_eta_work *work);

#endif

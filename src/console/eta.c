#include "console/eta.h"

#include <math.h>

void cr_eta_step(struct cr_eta *eta, double seconds)
{
    cr_trend_add(&eta->step, seconds);
}

void cr_eta_job(struct cr_eta *eta, enum cr_eta_job job, double seconds)
{
    cr_trend_add(&eta->job[job], seconds);
}

/* Mean over the recent half. */
static double eta_mean(const struct cr_trend *trend)
{
    return trend->n > 0 ? cr_trend_mean(trend, trend->n / 2, trend->n)
                        : (double)NAN;
}

double cr_eta_step_seconds(const struct cr_eta *eta)
{
    return eta_mean(&eta->step);
}

double cr_eta_left(const struct cr_eta *eta, const struct cr_eta_work *work)
{
    double step = eta_mean(&eta->step), left = work->steps * step;
    double timed = 0; /* seconds of timed jobs per second of other work */

    for (int i = 0; i < CR_ETA_JOBS; i++) {
        double seconds = eta->job[i].n > 0 ? eta_mean(&eta->job[i])
                                           : work->job[i].guess * step;

        left += work->job[i].count * seconds;
        if (work->job[i].interval > 0)
            timed += seconds / work->job[i].interval;
    }
    return left * (1 + timed);
}

/*
 * WarmUpLR, at update s, with W = warmup_steps:
 *
 *   lr min(s, W) / W        the first update has the rate 0
 */
#include "train/schedule.h"

struct warm_up {
    double learning_rate;
    struct cr_quantity warmup_steps;
};

static const struct cr_opt warm_up_opts[] = {
    CR_REAL(struct warm_up, learning_rate, 0, DBL_MAX,
            "Learning rate after the warmup."),
    CR_QUANTITY(struct warm_up, warmup_steps, CR_STEPS,
                "Number of updates of the warmup."),
    { 0 },
};

static double warm_up_at(const void *opts, const struct cr_run_steps *run,
                         int64_t update)
{
    const struct warm_up *o = opts;
    double end = cr_run_updates(run, &o->warmup_steps);

    if ((double)update >= end)
        return o->learning_rate;
    return o->learning_rate * (double)update / end;
}

const struct cr_schedule cr_schedule_warm_up = {
    .about = {
        .name = "WarmUpLR",
        .summary = "Linear warmup to a constant rate.",
        .detail = "At update s, from 0: learning_rate s / warmup_steps, then "
                  "learning_rate. The key `warmup` next to another schedule "
                  "puts a warmup before it.",
        .example = "optimizer: {SGD: {learning_rate: {WarmUpLR: "
                   "{learning_rate: 0.1, warmup_steps: 2 epochs}}}}\n",
        .opts = warm_up_opts,
        .size = sizeof(struct warm_up),
    },
    .at = warm_up_at,
};

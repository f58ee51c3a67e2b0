/*
 * WarmUpLR (semantics.md 5.5), at update s, with W = warmup_steps:
 *
 *   lr min(s, W) / W        so the first update has the rate 0
 */
#include "train/schedule.h"

struct warm_up {
    double learning_rate;
    struct cr_quantity warmup_steps;
};

static const struct cr_opt warm_up_opts[] = {
    CR_REAL(struct warm_up, learning_rate, 0, DBL_MAX, "The last rate."),
    CR_QUANTITY(struct warm_up, warmup_steps, CR_STEPS,
                "Updates until it is reached."),
    { 0 },
};

static double warm_up_at(const void *opts, const struct cr_span *run,
                         int64_t update)
{
    const struct warm_up *o = opts;
    double end = cr_span_updates(run, &o->warmup_steps);

    if ((double)update >= end)
        return o->learning_rate;
    return o->learning_rate * (double)update / end;
}

const struct cr_schedule cr_schedule_warm_up = {
    .about = {
        .name = "WarmUpLR",
        .summary = "A rate that rises from 0 and stays.",
        .detail = "At update s, from 0: learning_rate s / warmup_steps, then "
                  "learning_rate. `warmup` beside any schedule does the same "
                  "in front of it.",
        .example = "optimizer: {SGD: {learning_rate: {WarmUpLR: "
                   "{learning_rate: 0.1, warmup_steps: 2 epochs}}}}\n",
        .opts = warm_up_opts,
        .size = sizeof(struct warm_up),
    },
    .at = warm_up_at,
};

/*
 * ExponentialDecayLR, at update s:
 *
 *   lr decay_rate^(s / decay_steps)
 *
 * is_stair rounds the quotient down.
 */
#include "train/schedule.h"

struct exponential_decay {
    double learning_rate, decay_rate;
    struct cr_quantity decay_steps;
    bool is_stair;
};

static const struct cr_opt exponential_decay_opts[] = {
    CR_REAL(struct exponential_decay, learning_rate, 0, DBL_MAX,
            "Initial learning rate."),
    CR_REAL(struct exponential_decay, decay_rate, 0, DBL_MAX,
            "Decay rate."),
    CR_QUANTITY(struct exponential_decay, decay_steps, CR_STEPS,
                "Number of updates in which the rate decays by decay_rate."),
    CR_BOOL_DEFAULT(struct exponential_decay, is_stair, false,
                    "Decay in steps instead of continuously."),
    { 0 },
};

static double exponential_decay_at(const void *opts,
                                   const struct cr_run_steps *run,
                                   int64_t update)
{
    const struct exponential_decay *o = opts;

    return cr_decay_exponential(o->learning_rate, o->decay_rate, (double)update,
                                cr_run_updates(run, &o->decay_steps),
                                o->is_stair);
}

const struct cr_schedule cr_schedule_exponential_decay = {
    .about = {
        .name = "ExponentialDecayLR",
        .summary = "Exponential decay.",
        .detail = "At update s, from 0: lr decay_rate^(s / decay_steps). "
                  "is_stair rounds the quotient down.",
        .example = "optimizer: {SGD: {learning_rate: {ExponentialDecayLR: "
                   "{learning_rate: 0.1, decay_rate: 0.9, decay_steps: 4 "
                   "epochs}}}}\n",
        .opts = exponential_decay_opts,
        .size = sizeof(struct exponential_decay),
    },
    .at = exponential_decay_at,
};

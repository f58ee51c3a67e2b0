/*
 * ExponentialDecayLR (semantics.md 5.5), at update s:
 *
 *   lr decay_rate^(s / decay_steps)        with is_stair the quotient is
 * rounded down
 */
#include "train/schedule.h"

struct exponential_decay {
    double learning_rate, decay_rate;
    struct cr_quantity decay_steps;
    bool is_stair;
};

static const struct cr_opt exponential_decay_opts[] = {
    CR_REAL(struct exponential_decay, learning_rate, 0, DBL_MAX,
            "The first rate."),
    CR_REAL(struct exponential_decay, decay_rate, 0, DBL_MAX,
            "How fast it falls."),
    CR_QUANTITY(struct exponential_decay, decay_steps, CR_STEPS,
                "Updates that it takes to fall once."),
    CR_BOOL_DEFAULT(struct exponential_decay, is_stair, false,
                    "Fall in steps, not evenly."),
    { 0 },
};

static double exponential_decay_at(const void *opts, const struct cr_span *run,
                                   int64_t update)
{
    const struct exponential_decay *o = opts;

    return cr_decay_exponential(o->learning_rate, o->decay_rate, (double)update,
                                cr_span_updates(run, &o->decay_steps),
                                o->is_stair);
}

const struct cr_schedule cr_schedule_exponential_decay = {
    .about = {
        .name = "ExponentialDecayLR",
        .summary = "A rate that falls by a factor with the updates.",
        .detail = "At update s, from 0: lr decay_rate^(s / decay_steps); with "
                  "is_stair the quotient is rounded down.",
        .example = "optimizer: {SGD: {learning_rate: {ExponentialDecayLR: "
                   "{learning_rate: 0.1, decay_rate: 0.9, decay_steps: 4 "
                   "epochs}}}}\n",
        .opts = exponential_decay_opts,
        .size = sizeof(struct exponential_decay),
    },
    .at = exponential_decay_at,
};

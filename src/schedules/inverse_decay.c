/*
 * InverseDecayLR, at update s:
 *
 *   lr / (1 + decay_rate s / decay_steps)
 *
 * is_stair rounds the quotient down.
 */
#include "train/schedule.h"

struct inverse_decay {
    double learning_rate, decay_rate;
    struct cr_quantity decay_steps;
    bool is_stair;
};

static const struct cr_opt inverse_decay_opts[] = {
    CR_REAL(struct inverse_decay, learning_rate, 0, DBL_MAX,
            "Initial learning rate."),
    CR_REAL(struct inverse_decay, decay_rate, 0, DBL_MAX, "Decay rate."),
    CR_QUANTITY(struct inverse_decay, decay_steps, CR_STEPS,
                "Number of updates in one unit of the decay."),
    CR_BOOL_DEFAULT(struct inverse_decay, is_stair, false,
                    "Decay in steps instead of continuously."),
    { 0 },
};

static double inverse_decay_at(const void *opts, const struct cr_run_steps *run,
                               int64_t update)
{
    const struct inverse_decay *o = opts;

    return cr_decay_inverse(o->learning_rate, o->decay_rate, (double)update,
                            cr_run_updates(run, &o->decay_steps), o->is_stair);
}

const struct cr_schedule cr_schedule_inverse_decay = {
    .about = {
        .name = "InverseDecayLR",
        .summary = "Inverse-time decay.",
        .detail = "At update s, from 0: lr / (1 + decay_rate s / decay_steps). "
                  "is_stair rounds the quotient down.",
        .example = "optimizer: {SGD: {learning_rate: {InverseDecayLR: "
                   "{learning_rate: 0.1, decay_rate: 0.9, decay_steps: 4 "
                   "epochs}}}}\n",
        .opts = inverse_decay_opts,
        .size = sizeof(struct inverse_decay),
    },
    .at = inverse_decay_at,
};

/*
 * NaturalExpDecayLR, at update s:
 *
 *   lr e^(-decay_rate s)
 *
 * is_stair rounds s down to a multiple of decay_steps.
 */
#include "train/schedule.h"

struct natural_exp_decay {
    double learning_rate, decay_rate;
    struct cr_quantity decay_steps;
    bool is_stair;
};

static const struct cr_opt natural_exp_decay_opts[] = {
    CR_REAL(struct natural_exp_decay, learning_rate, 0, DBL_MAX,
            "Initial learning rate."),
    CR_REAL(struct natural_exp_decay, decay_rate, 0, DBL_MAX,
            "Decay rate."),
    CR_QUANTITY(struct natural_exp_decay, decay_steps, CR_STEPS,
                "Length of a stair, in updates."),
    CR_BOOL_DEFAULT(struct natural_exp_decay, is_stair, false,
                    "Decay in steps instead of continuously."),
    { 0 },
};

static double natural_exp_decay_at(const void *opts,
                                   const struct cr_run_steps *run,
                                   int64_t update)
{
    const struct natural_exp_decay *o = opts;

    return cr_decay_natural(o->learning_rate, o->decay_rate, (double)update,
                            cr_run_updates(run, &o->decay_steps), o->is_stair);
}

const struct cr_schedule cr_schedule_natural_exp_decay = {
    .about = {
        .name = "NaturalExpDecayLR",
        .summary = "Natural exponential decay.",
        .detail = "At update s, from 0: lr e^(-decay_rate s). is_stair rounds "
                  "s down to a multiple of decay_steps, which has no other "
                  "effect.",
        .example = "optimizer: {SGD: {learning_rate: {NaturalExpDecayLR: "
                   "{learning_rate: 0.1, decay_rate: 0.9, decay_steps: 4 "
                   "epochs}}}}\n",
        .opts = natural_exp_decay_opts,
        .size = sizeof(struct natural_exp_decay),
    },
    .at = natural_exp_decay_at,
};

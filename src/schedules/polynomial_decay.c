/*
 * PolynomialDecayLR, at update s, with D = decay_steps:
 *
 *   (lr - end) (1 - min(s, D) / D)^power + end
 *
 * update_decay_steps extends D to its next multiple each time s passes it.
 */
#include "train/schedule.h"

struct polynomial_decay {
    double learning_rate, end_learning_rate;
    struct cr_quantity decay_steps;
    double power;
    bool update_decay_steps;
};

static const struct cr_opt polynomial_decay_opts[] = {
    CR_REAL(struct polynomial_decay, learning_rate, 0, DBL_MAX,
            "Initial learning rate."),
    CR_REAL(struct polynomial_decay, end_learning_rate, 0, DBL_MAX,
            "Final learning rate."),
    CR_QUANTITY(struct polynomial_decay, decay_steps, CR_STEPS,
                "Number of updates until end_learning_rate."),
    CR_REAL(struct polynomial_decay, power, 0, DBL_MAX,
            "Exponent of the remaining fraction."),
    CR_BOOL_DEFAULT(struct polynomial_decay, update_decay_steps, false,
                    "Extend the decay to the next multiple of decay_steps each "
                    "time it ends."),
    { 0 },
};

static double polynomial_decay_at(const void *opts,
                                  const struct cr_run_steps *run,
                                  int64_t update)
{
    const struct polynomial_decay *o = opts;

    return cr_decay_polynomial(
        o->learning_rate, o->end_learning_rate, o->power, (double)update,
        cr_run_updates(run, &o->decay_steps), o->update_decay_steps);
}

const struct cr_schedule cr_schedule_polynomial_decay = {
    .about = {
        .name = "PolynomialDecayLR",
        .summary = "Polynomial decay.",
        .detail = "At update s, from 0: (learning_rate - end_learning_rate) "
                  "(1 - s / decay_steps)^power + end_learning_rate.",
        .example = "optimizer: {SGD: {learning_rate: {PolynomialDecayLR: "
                   "{learning_rate: 0.1, end_learning_rate: 0.001, "
                   "decay_steps: 4 epochs, power: 0.5}}}}\n",
        .opts = polynomial_decay_opts,
        .size = sizeof(struct polynomial_decay),
    },
    .at = polynomial_decay_at,
};

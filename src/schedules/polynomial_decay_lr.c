/*
 * polynomial_decay_lr, in epoch e of the update, with D = decay_epoch:
 *
 *   (lr - end) (1 - min(e, D) / D)^power + end
 *
 * update_decay_epoch extends D to its next multiple each time e passes it.
 */
#include "train/schedule.h"

struct polynomial_decay_lr {
    double learning_rate, end_learning_rate;
    struct cr_by_epoch by;
    int64_t decay_epoch;
    double power;
    bool update_decay_epoch;
};

static const struct cr_opt polynomial_decay_lr_opts[] = {
    CR_REAL(struct polynomial_decay_lr, learning_rate, 0, DBL_MAX,
            "Initial learning rate."),
    CR_REAL(struct polynomial_decay_lr, end_learning_rate, 0, DBL_MAX,
            "Final learning rate."),
    CR_BY_EPOCH(struct polynomial_decay_lr),
    CR_INT(struct polynomial_decay_lr, decay_epoch, 1, 1e9,
           "Number of epochs until end_learning_rate."),
    CR_REAL(struct polynomial_decay_lr, power, 0, DBL_MAX,
            "Exponent of the remaining fraction."),
    CR_BOOL_DEFAULT(struct polynomial_decay_lr, update_decay_epoch, false,
                    "Extend the decay to the next multiple of decay_epoch each "
                    "time it ends."),
    { 0 },
};

static bool polynomial_decay_lr_check(struct cr_diag *diag, struct cr_pos pos,
                                      const void *opts,
                                      const struct cr_run_steps *run)
{
    const struct polynomial_decay_lr *o = opts;

    return cr_epoch_check(diag, pos, &o->by, run);
}

static double polynomial_decay_lr_at(const void *opts,
                                     const struct cr_run_steps *run,
                                     int64_t update)
{
    const struct polynomial_decay_lr *o = opts;

    return cr_decay_polynomial(o->learning_rate, o->end_learning_rate, o->power,
                               cr_epoch_at(&o->by, run, update),
                               (double)o->decay_epoch, o->update_decay_epoch);
}

const struct cr_schedule cr_schedule_polynomial_decay_lr = {
    .about = {
        .name = "polynomial_decay_lr",
        .summary = "Polynomial decay, per epoch.",
        .detail = "In epoch e, from 0: (learning_rate - end_learning_rate) (1 "
                  "- e / decay_epoch)^power + end_learning_rate.",
        .example = "optimizer: {SGD: {learning_rate: {polynomial_decay_lr: "
                   "{learning_rate: 0.1, end_learning_rate: 0.01, "
                   "decay_epoch: 2, power: 0.5}}}}\n",
        .opts = polynomial_decay_lr_opts,
        .size = sizeof(struct polynomial_decay_lr),
    },
    .at = polynomial_decay_lr_at,
    .check = polynomial_decay_lr_check,
};

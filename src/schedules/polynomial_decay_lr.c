/*
 * polynomial_decay_lr (semantics.md 5.4), in epoch e of the update, with
 * D = decay_epoch:
 *
 *   (lr - end) (1 - min(e, D) / D)^power + end
 *
 * With update_decay_epoch D moves on to its next multiple each time e passes
 * it.
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
            "The first rate."),
    CR_REAL(struct polynomial_decay_lr, end_learning_rate, 0, DBL_MAX,
            "The last rate."),
    CR_BY_EPOCH(struct polynomial_decay_lr),
    CR_INT(struct polynomial_decay_lr, decay_epoch, 1, 1e9,
           "Epochs until the last rate is reached."),
    CR_REAL(struct polynomial_decay_lr, power, 0, DBL_MAX,
            "Power of what is left of the way."),
    CR_BOOL_DEFAULT(struct polynomial_decay_lr, update_decay_epoch, false,
                    "At the end go on with as many epochs more."),
    { 0 },
};

static bool polynomial_decay_lr_check(struct cr_diag *diag, struct cr_pos pos,
                                      const void *opts,
                                      const struct cr_span *run)
{
    const struct polynomial_decay_lr *o = opts;

    return cr_epoch_check(diag, pos, &o->by, run);
}

static double polynomial_decay_lr_at(const void *opts,
                                     const struct cr_span *run, int64_t update)
{
    const struct polynomial_decay_lr *o = opts;

    return cr_decay_polynomial(o->learning_rate, o->end_learning_rate, o->power,
                               cr_epoch_at(&o->by, run, update),
                               (double)o->decay_epoch, o->update_decay_epoch);
}

const struct cr_schedule cr_schedule_polynomial_decay_lr = {
    .about = {
        .name = "polynomial_decay_lr",
        .summary = "A rate that falls along a power, epoch by epoch.",
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

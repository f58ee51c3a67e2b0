/*
 * inverse_decay_lr, in epoch e of the update:
 *
 *   lr / (1 + decay_rate e / decay_epoch)
 *
 * is_stair rounds the quotient down.
 */
#include "train/schedule.h"

struct inverse_decay_lr {
    double learning_rate, decay_rate;
    struct cr_by_epoch by;
    int64_t decay_epoch;
    bool is_stair;
};

static const struct cr_opt inverse_decay_lr_opts[] = {
    CR_REAL(struct inverse_decay_lr, learning_rate, 0, DBL_MAX,
            "Initial learning rate."),
    CR_REAL(struct inverse_decay_lr, decay_rate, 0, DBL_MAX,
            "Decay rate."),
    CR_BY_EPOCH(struct inverse_decay_lr),
    CR_INT(struct inverse_decay_lr, decay_epoch, 1, 1e9,
           "Number of epochs in one unit of the decay."),
    CR_BOOL_DEFAULT(struct inverse_decay_lr, is_stair, false,
                    "Decay in steps instead of continuously."),
    { 0 },
};

static bool inverse_decay_lr_check(struct cr_diag *diag, struct cr_pos pos,
                                   const void *opts,
                                   const struct cr_run_steps *run)
{
    const struct inverse_decay_lr *o = opts;

    return cr_epoch_check(diag, pos, &o->by, run);
}

static double inverse_decay_lr_at(const void *opts,
                                  const struct cr_run_steps *run,
                                  int64_t update)
{
    const struct inverse_decay_lr *o = opts;

    return cr_decay_inverse(o->learning_rate, o->decay_rate,
                            cr_epoch_at(&o->by, run, update),
                            (double)o->decay_epoch, o->is_stair);
}

const struct cr_schedule cr_schedule_inverse_decay_lr = {
    .about = {
        .name = "inverse_decay_lr",
        .summary = "Inverse-time decay, per epoch.",
        .detail = "In epoch e, from 0: lr / (1 + decay_rate e / decay_epoch). "
                  "is_stair rounds the quotient down.",
        .example = "optimizer: {SGD: {learning_rate: {inverse_decay_lr: "
                   "{learning_rate: 0.1, decay_rate: 0.9, decay_epoch: 4}}}}\n",
        .opts = inverse_decay_lr_opts,
        .size = sizeof(struct inverse_decay_lr),
    },
    .at = inverse_decay_lr_at,
    .check = inverse_decay_lr_check,
};

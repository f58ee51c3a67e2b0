/*
 * natural_exp_decay_lr, in epoch e of the update:
 *
 *   lr e^(-decay_rate e)
 *
 * is_stair rounds e down to a multiple of decay_epoch.
 */
#include "train/schedule.h"

struct natural_exp_decay_lr {
    double learning_rate, decay_rate;
    struct cr_by_epoch by;
    int64_t decay_epoch;
    bool is_stair;
};

static const struct cr_opt natural_exp_decay_lr_opts[] = {
    CR_REAL(struct natural_exp_decay_lr, learning_rate, 0, DBL_MAX,
            "Initial learning rate."),
    CR_REAL(struct natural_exp_decay_lr, decay_rate, 0, DBL_MAX,
            "Decay rate."),
    CR_BY_EPOCH(struct natural_exp_decay_lr),
    CR_INT(struct natural_exp_decay_lr, decay_epoch, 1, 1e9,
           "Length of a stair, in epochs."),
    CR_BOOL_DEFAULT(struct natural_exp_decay_lr, is_stair, false,
                    "Decay in steps instead of continuously."),
    { 0 },
};

static bool natural_exp_decay_lr_check(struct cr_diag *diag, struct cr_pos pos,
                                       const void *opts,
                                       const struct cr_run_steps *run)
{
    const struct natural_exp_decay_lr *o = opts;

    return cr_epoch_check(diag, pos, &o->by, run);
}

static double natural_exp_decay_lr_at(const void *opts,
                                      const struct cr_run_steps *run,
                                      int64_t update)
{
    const struct natural_exp_decay_lr *o = opts;

    return cr_decay_natural(o->learning_rate, o->decay_rate,
                            cr_epoch_at(&o->by, run, update),
                            (double)o->decay_epoch, o->is_stair);
}

const struct cr_schedule cr_schedule_natural_exp_decay_lr = {
    .about = {
        .name = "natural_exp_decay_lr",
        .summary = "Natural exponential decay, per epoch.",
        .detail = "In epoch e, from 0: lr e^(-decay_rate e). is_stair rounds e "
                  "down to a multiple of decay_epoch, which has no other "
                  "effect.",
        .example = "optimizer: {SGD: {learning_rate: {natural_exp_decay_lr: "
                   "{learning_rate: 0.1, decay_rate: 0.9, decay_epoch: 4}}}}\n",
        .opts = natural_exp_decay_lr_opts,
        .size = sizeof(struct natural_exp_decay_lr),
    },
    .at = natural_exp_decay_lr_at,
    .check = natural_exp_decay_lr_check,
};

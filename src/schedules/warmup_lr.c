/*
 * warmup_lr, in epoch e of the update, with W = warmup_epoch:
 *
 *   lr min(e, W) / W        the whole first epoch has the rate 0
 */
#include "train/schedule.h"

struct warmup_lr {
    double learning_rate;
    struct cr_by_epoch by;
    int64_t warmup_epoch;
};

static const struct cr_opt warmup_lr_opts[] = {
    CR_REAL(struct warmup_lr, learning_rate, 0, DBL_MAX,
            "Learning rate after the warmup."),
    CR_BY_EPOCH(struct warmup_lr),
    CR_INT(struct warmup_lr, warmup_epoch, 0, 1e9,
           "Number of epochs of the warmup."),
    { 0 },
};

static bool warmup_lr_check(struct cr_diag *diag, struct cr_pos pos,
                            const void *opts, const struct cr_run_steps *run)
{
    const struct warmup_lr *o = opts;

    return cr_epoch_check(diag, pos, &o->by, run);
}

static double warmup_lr_at(const void *opts, const struct cr_run_steps *run,
                           int64_t update)
{
    const struct warmup_lr *o = opts;
    double e = cr_epoch_at(&o->by, run, update), end = (double)o->warmup_epoch;

    return e >= end ? o->learning_rate : o->learning_rate * e / end;
}

const struct cr_schedule cr_schedule_warmup_lr = {
    .about = {
        .name = "warmup_lr",
        .summary = "Linear warmup to a constant rate, per epoch.",
        .detail = "In epoch e, from 0: learning_rate e / warmup_epoch, then "
                  "learning_rate. The rate of the whole first epoch is 0.",
        .example = "optimizer: {SGD: {learning_rate: {warmup_lr: "
                   "{learning_rate: 0.1, warmup_epoch: 2}}}}\n",
        .opts = warmup_lr_opts,
        .size = sizeof(struct warmup_lr),
    },
    .at = warmup_lr_at,
    .check = warmup_lr_check,
};

/*
 * cosine_decay_lr, in epoch e of the update, with D = decay_epoch:
 *
 *   min_lr + (max_lr - min_lr) (1 + cos(pi min(e, D) / D)) / 2
 */
#include "train/schedule.h"

struct cosine_decay_lr {
    double min_lr, max_lr;
    struct cr_by_epoch by;
    int64_t decay_epoch;
};

static const struct cr_opt cosine_decay_lr_opts[] = {
    CR_REAL(struct cosine_decay_lr, min_lr, 0, DBL_MAX, "Final learning rate."),
    CR_REAL(struct cosine_decay_lr, max_lr, 0, DBL_MAX,
            "Initial learning rate."),
    CR_BY_EPOCH(struct cosine_decay_lr),
    CR_INT(struct cosine_decay_lr, decay_epoch, 1, 1e9,
           "Number of epochs until min_lr."),
    { 0 },
};

static bool cosine_decay_lr_check(struct cr_diag *diag, struct cr_pos pos,
                                  const void *opts,
                                  const struct cr_run_steps *run)
{
    const struct cosine_decay_lr *o = opts;

    return cr_epoch_check(diag, pos, &o->by, run);
}

static double cosine_decay_lr_at(const void *opts,
                                 const struct cr_run_steps *run, int64_t update)
{
    const struct cosine_decay_lr *o = opts;

    return cr_decay_cosine(o->min_lr, o->max_lr,
                           cr_epoch_at(&o->by, run, update),
                           (double)o->decay_epoch);
}

const struct cr_schedule cr_schedule_cosine_decay_lr = {
    .about = {
        .name = "cosine_decay_lr",
        .summary = "Cosine decay, per epoch.",
        .detail = "In epoch e, from 0: min_lr + (max_lr - min_lr) (1 + cos(pi "
                  "e / decay_epoch)) / 2; min_lr after decay_epoch.",
        .example = "optimizer: {SGD: {learning_rate: {cosine_decay_lr: "
                   "{min_lr: 0.0, max_lr: 0.1, decay_epoch: 10}}}}\n",
        .opts = cosine_decay_lr_opts,
        .size = sizeof(struct cosine_decay_lr),
    },
    .at = cosine_decay_lr_at,
    .check = cosine_decay_lr_check,
};

/*
 * CosineDecayLR, at update s, with D = decay_steps:
 *
 *   min_lr + (max_lr - min_lr) (1 + cos(pi min(s, D) / D)) / 2
 *
 * Loshchilov, Hutter: SGDR (2017), without restarts.
 */
#include "train/schedule.h"

struct cosine_decay {
    double min_lr, max_lr;
    struct cr_quantity decay_steps;
};

static const struct cr_opt cosine_decay_opts[] = {
    CR_REAL(struct cosine_decay, min_lr, 0, DBL_MAX, "Final learning rate."),
    CR_REAL(struct cosine_decay, max_lr, 0, DBL_MAX, "Initial learning rate."),
    CR_QUANTITY(struct cosine_decay, decay_steps, CR_STEPS,
                "Number of updates until min_lr."),
    { 0 },
};

static double cosine_decay_at(const void *opts, const struct cr_run_steps *run,
                              int64_t update)
{
    const struct cosine_decay *o = opts;

    return cr_decay_cosine(o->min_lr, o->max_lr, (double)update,
                           cr_run_updates(run, &o->decay_steps));
}

const struct cr_schedule cr_schedule_cosine_decay = {
    .about = {
        .name = "CosineDecayLR",
        .summary = "Cosine decay.",
        .detail = "At update s, from 0: min_lr + (max_lr - min_lr) (1 + cos(pi "
                  "s / decay_steps)) / 2; min_lr after decay_steps.",
        .example = "optimizer: {SGD: {learning_rate: {CosineDecayLR: {max_lr: "
                   "0.1, min_lr: 0.0, decay_steps: 60 epochs}, warmup: 2 "
                   "epochs}}}\n",
        .opts = cosine_decay_opts,
        .size = sizeof(struct cosine_decay),
    },
    .at = cosine_decay_at,
};

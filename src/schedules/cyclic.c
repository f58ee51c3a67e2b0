/*
 * CyclicLR: triangular cycles between two rates (Smith: Cyclical learning
 * rates, 2017), as in PyTorch. At update s, with U rising and D falling updates
 * per cycle, p = s / (U + D), k = floor(p) and x = p - k:
 *
 *   h = x (U + D) / U while rising,  (1 - x) (U + D) / D while falling
 *   base_lr + (max_lr - base_lr) h f
 *
 * f is 1, 2^-k (triangular2) or gamma^s (exp_range).
 */
#include "train/schedule.h"

enum { TRIANGULAR, TRIANGULAR2, EXP_RANGE };

struct cyclic {
    double base_lr, max_lr;
    struct cr_quantity step_size_up, step_size_down;
    int mode;
    double gamma;
};

static const struct cr_opt cyclic_opts[] = {
    CR_REAL(struct cyclic, base_lr, 0, DBL_MAX, "Minimum learning rate."),
    CR_REAL(struct cyclic, max_lr, 0, DBL_MAX, "Maximum learning rate."),
    CR_QUANTITY_DEFAULT(struct cyclic, step_size_up, "2000 steps", CR_STEPS,
                        "Number of updates in the rising half of a cycle."),
    CR_QUANTITY_OPTIONAL(struct cyclic, step_size_down, CR_STEPS,
                         "Number of updates in the falling half of a cycle. "
                         "Default: step_size_up."),
    CR_ENUM_DEFAULT(struct cyclic, mode, TRIANGULAR,
                    "triangular|triangular2|exp_range",
                    "Maximum over the cycles. triangular: constant. "
                    "triangular2: halved in each cycle. exp_range: multiplied "
                    "by gamma in each update."),
    CR_REAL_DEFAULT(struct cyclic, gamma, 1, 0, 1,
                    "Factor per update for exp_range."),
    { 0 },
};

static double cyclic_at(const void *opts, const struct cr_run_steps *run,
                        int64_t update)
{
    const struct cyclic *o = opts;
    double s = (double)update, up = cr_run_updates(run, &o->step_size_up);
    double down = o->step_size_down.unit == CR_UNIT_NONE
                      ? up
                      : cr_run_updates(run, &o->step_size_down);
    double k = floor(s / (up + down)), x = s - k * (up + down), f = 1;

    if (o->mode == TRIANGULAR2)
        f = pow(2, -k);
    else if (o->mode == EXP_RANGE)
        f = pow(o->gamma, s);
    x = x <= up ? x / up : (up + down - x) / down;
    return o->base_lr + (o->max_lr - o->base_lr) * x * f;
}

const struct cr_schedule cr_schedule_cyclic = {
    .about = {
        .name = "CyclicLR",
        .summary = "Cyclical learning rate, as in PyTorch.",
        .detail = "Rises linearly from base_lr to max_lr in step_size_up "
                  "updates, falls back in step_size_down updates, and repeats.",
        .example = "optimizer: {SGD: {learning_rate: {CyclicLR: {base_lr: "
                   "0.001, max_lr: 0.1, step_size_up: 2 epochs}}}}\n",
        .opts = cyclic_opts,
        .size = sizeof(struct cyclic),
    },
    .at = cyclic_at,
};

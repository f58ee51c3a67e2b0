/*
 * OneCycleLR: one rise and one fall (Smith, Topin: Super-convergence, 2018), as
 * in PyTorch with two phases. With T = total_steps the rate is
 * max_lr / div_factor at update 0, max_lr at pct_start T - 1, and
 * max_lr / div_factor / final_div_factor from T - 1 on; between these it
 * follows half a cosine or a line.
 */
#include "train/schedule.h"

enum { COS, LINEAR };

struct one_cycle {
    double max_lr;
    struct cr_quantity total_steps;
    double pct_start;
    int anneal_strategy;
    double div_factor, final_div_factor;
};

static const struct cr_opt one_cycle_opts[] = {
    CR_REAL(struct one_cycle, max_lr, 0, DBL_MAX, "Maximum learning rate."),
    CR_QUANTITY_DEFAULT(struct one_cycle, total_steps, "100%", CR_STEPS,
                        "Number of updates of the cycle."),
    CR_REAL_DEFAULT(struct one_cycle, pct_start, 0.3, 0, 1,
                    "Fraction of the cycle in which the rate rises."),
    CR_ENUM_DEFAULT(struct one_cycle, anneal_strategy, COS, "cos|linear",
                    "Shape of rise and fall: half a cosine, or linear."),
    CR_REAL_POS_DEFAULT(struct one_cycle, div_factor, 25, DBL_MAX,
                        "The initial rate is max_lr / div_factor."),
    CR_REAL_POS_DEFAULT(struct one_cycle, final_div_factor, 1e4, DBL_MAX,
                        "The final rate is the initial one / "
                        "final_div_factor."),
    { 0 },
};

static double one_cycle_anneal(const struct one_cycle *o, double from,
                               double to, double fraction)
{
    if (o->anneal_strategy == LINEAR)
        return from + (to - from) * fraction;
    return cr_decay_cosine(to, from, fraction, 1);
}

static double one_cycle_at(const void *opts, const struct cr_run_steps *run,
                           int64_t update)
{
    const struct one_cycle *o = opts;
    double s = (double)update, end = cr_run_updates(run, &o->total_steps) - 1;
    double peak = o->pct_start * (end + 1) - 1;
    double first = o->max_lr / o->div_factor;
    double last = first / o->final_div_factor;

    if (s >= end)
        return last;
    if (s <= peak)
        return peak > 0 ? one_cycle_anneal(o, first, o->max_lr, s / peak)
                        : o->max_lr;
    return one_cycle_anneal(o, o->max_lr, last, (s - peak) / (end - peak));
}

const struct cr_schedule cr_schedule_one_cycle = {
    .about = {
        .name = "OneCycleLR",
        .summary = "One-cycle policy, as in PyTorch.",
        .detail = "Rises from max_lr / div_factor to max_lr in the first "
                  "pct_start of the updates, then falls to the initial rate / "
                  "final_div_factor.",
        .example = "optimizer: {SGD: {learning_rate: {OneCycleLR: {max_lr: "
                   "0.5}}}}\n",
        .opts = one_cycle_opts,
        .size = sizeof(struct one_cycle),
    },
    .at = one_cycle_at,
};

/*
 * piecewise_constant_lr, at update i:
 *
 *   learning_rates[k]        for milestone[k - 1] <= i < milestone[k]
 *
 * The last rate applies after the last milestone.
 */
#include "train/schedule.h"

struct piecewise_constant_lr {
    struct cr_ints milestone;
    struct cr_reals learning_rates;
};

static const struct cr_opt piecewise_constant_lr_opts[] = {
    CR_INTS(struct piecewise_constant_lr, milestone, 1, 1e15,
            "Updates at which the rates end, in non-decreasing order."),
    CR_REALS(struct piecewise_constant_lr, learning_rates, 0, DBL_MAX,
             "Learning rates, one per milestone."),
    { 0 },
};

static bool piecewise_constant_lr_check(struct cr_diag *diag, struct cr_pos pos,
                                        const void *opts,
                                        const struct cr_run_steps *run)
{
    const struct piecewise_constant_lr *o = opts;

    (void)run;
    if (o->milestone.n != o->learning_rates.n || o->milestone.n == 0)
        return cr_error(diag, pos, CR_E_CONFLICT,
                        "found %d milestones and %d learning_rates, expected "
                        "equal numbers, at least one",
                        o->milestone.n, o->learning_rates.n);
    for (int i = 1; i < o->milestone.n; i++)
        if (o->milestone.v[i] < o->milestone.v[i - 1])
            return cr_error(diag, pos, CR_E_OUT_OF_RANGE,
                            "milestone: found %lld after %lld, expected "
                            "numbers in non-decreasing order",
                            (long long)o->milestone.v[i],
                            (long long)o->milestone.v[i - 1]);
    return true;
}

static double piecewise_constant_lr_at(const void *opts,
                                       const struct cr_run_steps *run,
                                       int64_t update)
{
    const struct piecewise_constant_lr *o = opts;
    int k = 0;

    (void)run;
    while (k < o->milestone.n - 1 && update >= o->milestone.v[k])
        k++;
    return o->learning_rates.v[k];
}

const struct cr_schedule cr_schedule_piecewise_constant_lr = {
    .about = {
        .name = "piecewise_constant_lr",
        .summary = "Piecewise constant learning rate.",
        .detail = "learning_rates[k] applies up to update milestone[k] - 1, "
                  "counted from 0; the last one applies after the last "
                  "milestone too.",
        .example = "optimizer: {SGD: {learning_rate: {piecewise_constant_lr: "
                   "{milestone: [1000, 2000], learning_rates: [0.1, "
                   "0.01]}}}}\n",
        .opts = piecewise_constant_lr_opts,
        .size = sizeof(struct piecewise_constant_lr),
    },
    .at = piecewise_constant_lr_at,
    .check = piecewise_constant_lr_check,
};

/*
 * ReduceLROnPlateau (semantics.md 9; train/plateau.c has the rule): a constant
 * rate that the loop makes smaller behind evaluations that bring no gain.
 * MindSpore's callback, as a schedule: it belongs to a rate and knows where
 * that begins.
 */
#include "train/schedule.h"

struct reduce_lr_on_plateau {
    double learning_rate;
    struct cr_plateau_rule rule;
};

#define PLATEAU(f) .name = #f, \
    .at = offsetof(struct reduce_lr_on_plateau, rule.f)

static const struct cr_opt reduce_lr_on_plateau_opts[] = {
    CR_REAL(struct reduce_lr_on_plateau, learning_rate, 0, DBL_MAX,
            "The first rate."),
    { PLATEAU(monitor), .type = CR_OPT_STR, .need = CR_DEFAULT, .text = "loss",
      .doc = "Metric of the evaluation to watch." },
    { PLATEAU(factor), .type = CR_OPT_REAL, .need = CR_DEFAULT,
      .real_default = 0.1, .min_exclusive = true, .max = 1,
      .doc = "What the rate is multiplied by each time." },
    { PLATEAU(patience), .type = CR_OPT_INT, .need = CR_DEFAULT,
      .int_default = 10, .max = 1e9,
      .doc = "Evaluations without gain after which the rate falls." },
    { PLATEAU(mode), .type = CR_OPT_ENUM, .need = CR_DEFAULT,
      .choices = "auto|min|max",
      .doc = "Which way is better; auto: as the metric says." },
    { PLATEAU(min_delta), .type = CR_OPT_REAL, .need = CR_DEFAULT,
      .real_default = 1e-4, .max = DBL_MAX,
      .doc = "A change must be larger than this to count as gain." },
    { PLATEAU(cooldown), .type = CR_OPT_INT, .need = CR_DEFAULT, .max = 1e9,
      .doc = "Evaluations after a fall that do not count." },
    { PLATEAU(min_lr), .type = CR_OPT_REAL, .need = CR_DEFAULT, .max = DBL_MAX,
      .doc = "The rate does not fall below this." },
    { 0 },
};

static double reduce_lr_on_plateau_at(const void *opts,
                                      const struct cr_span *run,
                                      int64_t update)
{
    const struct reduce_lr_on_plateau *o = opts;

    (void)run, (void)update;
    return o->learning_rate;
}

static const struct cr_plateau_rule *
reduce_lr_on_plateau_rule(const void *opts)
{
    const struct reduce_lr_on_plateau *o = opts;

    return &o->rule;
}

const struct cr_schedule cr_schedule_reduce_lr_on_plateau = {
    .about = {
        .name = "ReduceLROnPlateau",
        .summary = "A rate that falls when a metric stops getting better.",
        .detail = "It is learning_rate at first. After `patience` evaluations "
                  "(of eval.every) in a row without a gain of more than "
                  "min_delta it is max(rate factor, min_lr) from then on, and "
                  "the next `cooldown` evaluations do not count. MindSpore's "
                  "callback of that name, whose `eval_loss` is `loss` here. "
                  "Groups with a rate of their own keep that.",
        .example = "optimizer: {Momentum: {learning_rate: {ReduceLROnPlateau: "
                   "{learning_rate: 0.1, monitor: accuracy, factor: 0.5, "
                   "patience: 3}}, momentum: 0.9}}\n",
        .opts = reduce_lr_on_plateau_opts,
        .size = sizeof(struct reduce_lr_on_plateau),
    },
    .at = reduce_lr_on_plateau_at,
    .plateau = reduce_lr_on_plateau_rule,
};

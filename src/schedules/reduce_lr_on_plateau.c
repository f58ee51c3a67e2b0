/*
 * ReduceLROnPlateau: a constant rate that the training loop reduces after
 * evaluations without improvement (train/plateau.c). It is a callback in
 * MindSpore and a schedule here, because it needs the initial rate.
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
            "Initial learning rate."),
    { PLATEAU(monitor), .type = CR_OPT_STR, .need = CR_DEFAULT, .text = "loss",
      .doc = "Metric of the evaluation to monitor." },
    { PLATEAU(factor), .type = CR_OPT_REAL, .need = CR_DEFAULT,
      .real_default = 0.1, .min_exclusive = true, .max = 1,
      .doc = "Factor of each reduction." },
    { PLATEAU(patience), .type = CR_OPT_INT, .need = CR_DEFAULT,
      .int_default = 10, .max = 1e9,
      .doc = "Evaluations without improvement before the rate is reduced." },
    { PLATEAU(mode), .type = CR_OPT_ENUM, .need = CR_DEFAULT,
      .choices = "auto|min|max",
      .doc = "Which values are better; auto: as the metric defines it." },
    { PLATEAU(min_delta), .type = CR_OPT_REAL, .need = CR_DEFAULT,
      .real_default = 1e-4, .max = DBL_MAX,
      .doc = "Minimum change that counts as an improvement." },
    { PLATEAU(cooldown), .type = CR_OPT_INT, .need = CR_DEFAULT, .max = 1e9,
      .doc = "Evaluations after a reduction that are ignored." },
    { PLATEAU(min_lr), .type = CR_OPT_REAL, .need = CR_DEFAULT, .max = DBL_MAX,
      .doc = "Minimum learning rate." },
    { 0 },
};

static double reduce_lr_on_plateau_at(const void *opts,
                                      const struct cr_run_steps *run,
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
        .summary = "Reduces the learning rate when a metric stops improving.",
        .detail = "Starts with learning_rate. After `patience` consecutive "
                  "evaluations (of eval.every) without an improvement of more "
                  "than min_delta, the rate becomes max(rate factor, min_lr), "
                  "and the next `cooldown` evaluations are ignored. It is "
                  "MindSpore's callback of the same name, whose `eval_loss` is "
                  "`loss` here. Groups with their own learning rate are not "
                  "affected.",
        .example = "optimizer: {Momentum: {learning_rate: {ReduceLROnPlateau: "
                   "{learning_rate: 0.1, monitor: accuracy, factor: 0.5, "
                   "patience: 3}}, momentum: 0.9}}\n",
        .opts = reduce_lr_on_plateau_opts,
        .size = sizeof(struct reduce_lr_on_plateau),
    },
    .at = reduce_lr_on_plateau_at,
    .plateau = reduce_lr_on_plateau_rule,
};

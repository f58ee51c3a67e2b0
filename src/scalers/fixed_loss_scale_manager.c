/* FixedLossScaleManager (semantics.md 6.4). */
#include "train/loss_scale.h"

struct fixed {
    double loss_scale;
    bool drop_overflow_update;
};

static const struct cr_opt fixed_opts[] = {
    CR_REAL_POS_DEFAULT(struct fixed, loss_scale, 128, CR_LOSS_SCALE_MAX,
                        "The scale."),
    CR_BOOL_DEFAULT(
        struct fixed, drop_overflow_update, true,
        "Leave out updates whose gradient is not finite; false tests "
        "nothing and leaves dividing to the optimizer, whose own "
        "loss_scale must be this number."),
    { 0 },
};

static void fixed_rule(const void *opts, struct cr_loss_scale_rule *to)
{
    const struct fixed *o = opts;

    *to = (struct cr_loss_scale_rule){ .start = o->loss_scale,
                                       .trusting = !o->drop_overflow_update };
}

const struct cr_scaler cr_scaler_fixed_loss_scale_manager = {
    .about = {
        .name = "FixedLossScaleManager",
        .summary = "A scale that stays.",
        .example = "amp:\n"
                   "  loss_scale: {FixedLossScaleManager: {loss_scale: "
                   "1000.0, drop_overflow_update: false}}\n"
                   "optimizer: {Momentum: {learning_rate: 0.1, momentum: "
                   "0.9, loss_scale: 1000.0}}\n",
        .opts = fixed_opts,
        .size = sizeof(struct fixed),
    },
    .rule = fixed_rule,
};

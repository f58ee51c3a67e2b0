/* FixedLossScaleManager: a constant scale. */
#include "train/loss_scale.h"

struct fixed {
    double loss_scale;
    bool drop_overflow_update;
};

static const struct cr_opt fixed_opts[] = {
    CR_REAL_POS_DEFAULT(struct fixed, loss_scale, 128, CR_LOSS_SCALE_MAX,
                        "Loss scale."),
    CR_BOOL_DEFAULT(
        struct fixed, drop_overflow_update, true,
        "true: divide gradients by the scale and skip updates whose gradient "
        "is not finite. false: test nothing and let the optimizer divide; its "
        "loss_scale must be the same number."),
    { 0 },
};

static void fixed_rule(const void *opts, struct cr_loss_scale_rule *to)
{
    const struct fixed *o = opts;

    *to = (struct cr_loss_scale_rule){ .start = o->loss_scale,
                                       .unchecked = !o->drop_overflow_update };
}

const struct cr_scaler cr_scaler_fixed_loss_scale_manager = {
    .about = {
        .name = "FixedLossScaleManager",
        .summary = "Constant loss scale.",
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

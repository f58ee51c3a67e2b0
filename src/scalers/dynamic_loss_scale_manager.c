/* DynamicLossScaleManager: decreases after an overflow, increases after
 * scale_window updates without overflow (Micikevicius et al.,
 * arXiv:1710.03740). */
#include "train/loss_scale.h"

struct dynamic {
    double init_loss_scale;
    int64_t scale_factor, scale_window;
};

static const struct cr_opt dynamic_opts[] = {
    CR_REAL_DEFAULT(struct dynamic, init_loss_scale, 0x1p24, 1,
                    CR_LOSS_SCALE_MAX, "Initial loss scale."),
    CR_INT_DEFAULT(struct dynamic, scale_factor, 2, 2, 1 << 20,
                   "Factor that the scale is multiplied or divided by."),
    CR_INT_DEFAULT(struct dynamic, scale_window, 2000, 1, INT32_MAX,
                   "Consecutive finite updates after which the scale is "
                   "multiplied."),
    { 0 },
};

static void dynamic_rule(const void *opts, struct cr_loss_scale_rule *to)
{
    const struct dynamic *o = opts;

    *to = (struct cr_loss_scale_rule){ .start = o->init_loss_scale,
                                       .factor = (double)o->scale_factor,
                                       .window = o->scale_window };
}

const struct cr_scaler cr_scaler_dynamic_loss_scale_manager = {
    .about = {
        .name = "DynamicLossScaleManager",
        .summary = "Dynamic loss scale: grows until gradients overflow.",
        .detail = "If a gradient is not finite, the update is skipped and the "
                  "scale is divided by scale_factor, down to 1. After "
                  "scale_window consecutive finite updates it is multiplied by "
                  "scale_factor.",
        .example = "amp:\n"
                   "  level: O2\n"
                   "  loss_scale: {DynamicLossScaleManager: "
                   "{init_loss_scale: 65536}}\n",
        .opts = dynamic_opts,
        .size = sizeof(struct dynamic),
    },
    .rule = dynamic_rule,
};

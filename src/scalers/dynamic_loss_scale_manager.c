/* DynamicLossScaleManager (semantics.md 6.4): down after an overflow, up after
 * scale_window updates without one. */
#include "train/loss_scale.h"

struct dynamic {
    double init_loss_scale;
    int64_t scale_factor, scale_window;
};

static const struct cr_opt dynamic_opts[] = {
    CR_REAL_DEFAULT(struct dynamic, init_loss_scale, 0x1p24, 1,
                    CR_LOSS_SCALE_MAX, "The scale of the first update."),
    CR_INT_DEFAULT(struct dynamic, scale_factor, 2, 2, 1 << 20,
                   "What it is multiplied or divided by."),
    CR_INT_DEFAULT(struct dynamic, scale_window, 2000, 1, INT32_MAX,
                   "Updates in a row, all finite, after which it grows."),
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
        .summary = "A scale that grows until gradients overflow.",
        .detail = "An update whose gradient is not finite is left out and "
                  "the scale divided, never below 1.",
        .example = "amp:\n"
                   "  level: O2\n"
                   "  loss_scale: {DynamicLossScaleManager: "
                   "{init_loss_scale: 65536}}\n",
        .opts = dynamic_opts,
        .size = sizeof(struct dynamic),
    },
    .rule = dynamic_rule,
};

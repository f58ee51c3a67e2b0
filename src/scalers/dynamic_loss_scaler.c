/* DynamicLossScaler: DynamicLossScaleManager under the name of MindSpore's
 * functional interface, which has no defaults. */
#include "train/loss_scale.h"

struct dynamic {
    double scale_value;
    int64_t scale_factor, scale_window;
};

static const struct cr_opt dynamic_opts[] = {
    CR_REAL(struct dynamic, scale_value, 1, CR_LOSS_SCALE_MAX,
            "Initial loss scale."),
    CR_INT(struct dynamic, scale_factor, 1, 1 << 20,
           "Factor that the scale is multiplied or divided by."),
    CR_INT(struct dynamic, scale_window, 1, INT32_MAX,
           "Consecutive finite updates after which the scale is multiplied."),
    { 0 },
};

static void dynamic_rule(const void *opts, struct cr_loss_scale_rule *to)
{
    const struct dynamic *o = opts;

    *to = (struct cr_loss_scale_rule){ .start = o->scale_value,
                                       .factor = (double)o->scale_factor,
                                       .window = o->scale_window };
}

const struct cr_scaler cr_scaler_dynamic_loss_scaler = {
    .about = {
        .name = "DynamicLossScaler",
        .summary = "Dynamic loss scale: grows until gradients overflow.",
        .detail = "The same as DynamicLossScaleManager, without defaults.",
        .example = "amp:\n"
                   "  level: O2\n"
                   "  loss_scale: {DynamicLossScaler: [1024, 2, 1000]}\n",
        .opts = dynamic_opts,
        .size = sizeof(struct dynamic),
    },
    .rule = dynamic_rule,
};

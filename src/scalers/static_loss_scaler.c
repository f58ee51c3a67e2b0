/* StaticLossScaler: a constant scale, under the name of MindSpore's functional
 * interface. */
#include "train/loss_scale.h"

struct fixed {
    double scale_value;
};

static const struct cr_opt fixed_opts[] = {
    CR_REAL(struct fixed, scale_value, 1, CR_LOSS_SCALE_MAX, "Loss scale."),
    { 0 },
};

static void fixed_rule(const void *opts, struct cr_loss_scale_rule *to)
{
    *to = (struct cr_loss_scale_rule){
        .start = ((const struct fixed *)opts)->scale_value
    };
}

const struct cr_scaler cr_scaler_static_loss_scaler = {
    .about = {
        .name = "StaticLossScaler",
        .summary = "Constant loss scale.",
        .detail = "Updates whose gradient is not finite are skipped.",
        .example = "amp: {loss_scale: {StaticLossScaler: 1024}}\n",
        .opts = fixed_opts,
        .size = sizeof(struct fixed),
    },
    .rule = fixed_rule,
};

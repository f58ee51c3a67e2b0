/* StaticLossScaler (semantics.md 6.3): the functional form. */
#include "train/loss_scale.h"

struct fixed {
    double scale_value;
};

static const struct cr_opt fixed_opts[] = {
    CR_REAL(struct fixed, scale_value, 1, CR_LOSS_SCALE_MAX, "The scale."),
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
        .summary = "A scale that stays.",
        .detail = "Updates whose gradient is not finite are left out.",
        .example = "amp: {loss_scale: {StaticLossScaler: 1024}}\n",
        .opts = fixed_opts,
        .size = sizeof(struct fixed),
    },
    .rule = fixed_rule,
};

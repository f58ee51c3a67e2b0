/*
 * RMSProp: gradients divided by the root of their mean square, with momentum
 * (Tieleman, Hinton, 2012; centered: Graves, 2013).
 *
 *   g = g + weight_decay w
 *   s = decay s + (1 - decay) g^2       q = decay q + (1 - decay) g
 *   m = momentum m + lr g / sqrt(s + epsilon)
 *   w = w - m
 *
 * centered replaces s under the root by s - q^2; where s - q^2 + epsilon is
 * not positive, m is not updated.
 *
 * Slots: mean_square is s, initially 1; moment is m and, if centered,
 * mean_grad is q, initially 0.
 */
#include "base/compiler.h"
#include "train/optim.h"

CR_O3

struct rms_prop {
    struct cr_optim_common common;
    double decay, momentum, epsilon;
    bool centered;
};

static const struct cr_opt rms_prop_opts[] = {
    CR_OPTIM_LR(struct rms_prop, .need = CR_DEFAULT, .text = "0.1"),
    CR_REAL_DEFAULT(struct rms_prop, decay, 0.9, 0, 1,
                    "Exponential decay rate of the moments."),
    CR_REAL_DEFAULT(struct rms_prop, momentum, 0, 0, DBL_MAX,
                    "Momentum factor."),
    CR_REAL_POS_DEFAULT(struct rms_prop, epsilon, 1e-10, DBL_MAX,
                        "Added under the root for numerical stability."),
    CR_BOOL_DEFAULT(
        struct rms_prop, centered, false,
        "Divide by the standard deviation of the gradient instead of "
        "the root of its second moment."),
    CR_OPTIM_SCALE(struct rms_prop),
    CR_OPTIM_DECAY(struct rms_prop),
    CR_OPTIM_GROUPS(struct rms_prop),
    { 0 },
};

static int rms_prop_count(const void *opts)
{
    const struct rms_prop *o = opts;

    return o->centered ? 3 : 2;
}

CR_CLONES static void rms_prop_update(const struct cr_update *u)
{
    const struct rms_prop *o = u->opts;
    const cr_real lr = (cr_real)u->lr, scale = (cr_real)u->scale;
    const cr_real decay = (cr_real)u->weight_decay;
    cr_real *restrict w = u->w;
    const cr_real *restrict gs = u->g;
    const int64_t n = u->n;
    const cr_real rho = (cr_real)o->decay, rest = 1 - rho;
    const cr_real mu = (cr_real)o->momentum, eps = (cr_real)o->epsilon;
    cr_real *restrict s = u->slot[0], *restrict m = u->slot[1];
    cr_real *restrict q = u->slot[2];

    CR_SIMD
    for (int64_t i = 0; i < n; i++) {
        cr_real g = scale * gs[i] + decay * w[i];

        cr_real under;

        s[i] = rho * s[i] + rest * g * g;
        under = s[i] + eps;
        if (o->centered) {
            q[i] = rho * q[i] + rest * g;
            under = s[i] - q[i] * q[i] + eps;
        }
        if (under > 0)
            m[i] = mu * m[i] + lr * g / cr_sqrt(under);
        w[i] -= m[i];
    }
}

const struct cr_optim cr_optim_rms_prop = {
    .about = {
        .name = "RMSProp",
        .summary = "RMSProp: gradients divided by the root of their mean "
                   "square.",
        .detail = "s = decay s + (1 - decay) g^2; m = momentum m + lr g / "
                  "sqrt(s + epsilon); w -= m. centered subtracts the square of "
                  "the mean gradient from s.",
        .example = "optimizer: {RMSProp: {learning_rate: 0.01, momentum: "
                   "0.9}}\n",
        .opts = rms_prop_opts,
        .size = sizeof(struct rms_prop),
    },
    .slots = 3,
    .slot_names = { "mean_square", "moment", "mean_grad" },
    .slot_start = { 1, 0, 0 },
    .update = rms_prop_update,
    .count = rms_prop_count,
};

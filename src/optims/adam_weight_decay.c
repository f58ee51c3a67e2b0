/*
 * AdamWeightDecay: Adam with decoupled weight decay and without bias
 * correction, as in the published code of BERT (Devlin et al., 2018).
 *
 *   m = beta1 m + (1 - beta1) g         v = beta2 v + (1 - beta2) g^2
 *   w = w - lr (m / (sqrt(v) + eps) + weight_decay w)
 *
 * Slots: adam_m is m, adam_v is v; initially 0.
 */
#include "base/compiler.h"
#include "train/optim.h"

CR_O3

struct adam_weight_decay {
    struct cr_optim_common common;
    double beta1, beta2, eps;
};

static const struct cr_opt adam_weight_decay_opts[] = {
    CR_OPTIM_LR(struct adam_weight_decay, .need = CR_DEFAULT, .text = "1e-3"),
    CR_REAL_DEFAULT(struct adam_weight_decay, beta1, 0.9, 0, 1,
                    "Exponential decay rate of the first moment."),
    CR_REAL_DEFAULT(struct adam_weight_decay, beta2, 0.999, 0, 1,
                    "Exponential decay rate of the second moment."),
    CR_REAL_POS_DEFAULT(struct adam_weight_decay, eps, 1e-6, DBL_MAX,
                        "Added to the denominator for numerical stability."),
    CR_OPTIM_DECOUPLED_DECAY(struct adam_weight_decay),
    CR_OPTIM_GROUPS(struct adam_weight_decay),
    { 0 },
};

static const char *const adam_weight_decay_checked[] = { "beta1", "beta2",
                                                         NULL };

static bool adam_weight_decay_check(struct cr_diag *diag, struct cr_pos pos,
                                    const void *opts)
{
    const struct adam_weight_decay *o = opts;

    if (o->beta1 == 1 || o->beta2 == 1)
        return cr_error(diag, pos, CR_E_OUT_OF_RANGE,
                        "beta1 and beta2 of AdamWeightDecay: expected numbers "
                        "below 1");
    return true;
}

CR_CLONES static void adam_weight_decay_update(const struct cr_update *u)
{
    const struct adam_weight_decay *o = u->opts;
    const cr_real b1 = (cr_real)o->beta1, c1 = 1 - b1;
    const cr_real b2 = (cr_real)o->beta2, c2 = 1 - b2;
    const cr_real eps = (cr_real)o->eps, scale = (cr_real)u->scale;
    const cr_real lr = (cr_real)u->lr, decay = (cr_real)u->weight_decay;
    cr_real *restrict w = u->w, *restrict m = u->slot[0];
    cr_real *restrict v = u->slot[1];
    const cr_real *restrict gs = u->g;
    const int64_t n = u->n;

    CR_SIMD
    for (int64_t i = 0; i < n; i++) {
        cr_real g = scale * gs[i];

        m[i] = b1 * m[i] + c1 * g;
        v[i] = b2 * v[i] + c2 * g * g;
        w[i] -= lr * (m[i] / (cr_sqrt(v[i]) + eps) + decay * w[i]);
    }
}

const struct cr_optim cr_optim_adam_weight_decay = {
    .about = {
        .name = "AdamWeightDecay",
        .summary = "Adam with decoupled weight decay, without bias correction.",
        .detail = "m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2; "
                  "w -= lr (m / (sqrt(v) + eps) + weight_decay w). AdamW is "
                  "PyTorch's variant.",
        .example = "optimizer: {AdamWeightDecay: {learning_rate: 3e-4, "
                   "weight_decay: 0.01}}\n",
        .opts = adam_weight_decay_opts,
        .size = sizeof(struct adam_weight_decay),
    },
    .slots = 2,
    .slot_names = { "adam_m", "adam_v" },
    .update = adam_weight_decay_update,
    .check = adam_weight_decay_check,
    .checked = adam_weight_decay_checked,
};

/*
 * AdaMax: Adam with the infinity norm as second moment (Kingma, Ba: Adam,
 * 2015, section 7.1).
 *
 *   g = g + weight_decay w
 *   m = beta1 m + (1 - beta1) g         v = max(beta2 v, |g|)
 *   w = w - lr / (1 - beta1^t) m / (v + eps)
 *
 * Slots: moment1 is m, moment2 is v; initially 0.
 */
#include "base/compiler.h"
#include "train/optim.h"

CR_O3

struct ada_max {
    struct cr_optim_common common;
    double beta1, beta2, eps;
};

static const struct cr_opt ada_max_opts[] = {
    CR_OPTIM_LR(struct ada_max, .need = CR_DEFAULT, .text = "1e-3"),
    CR_REAL_DEFAULT(struct ada_max, beta1, 0.9, 0, 1,
                    "Exponential decay rate of the first moment."),
    CR_REAL_DEFAULT(struct ada_max, beta2, 0.999, 0, 1,
                    "Decay rate of the maximum of the gradients."),
    CR_REAL_POS_DEFAULT(struct ada_max, eps, 1e-8, DBL_MAX,
                        "Added to the denominator for numerical stability."),
    CR_OPTIM_DECAY(struct ada_max),
    CR_OPTIM_SCALE(struct ada_max),
    CR_OPTIM_GROUPS(struct ada_max),
    { 0 },
};

CR_CLONES static void ada_max_update(const struct cr_update *u)
{
    const struct ada_max *o = u->opts;
    const cr_real lr = (cr_real)u->lr, scale = (cr_real)u->scale;
    const cr_real decay = (cr_real)u->weight_decay;
    cr_real *restrict w = u->w;
    const cr_real *restrict gs = u->g;
    const int64_t n = u->n;
    const cr_real b1 = (cr_real)o->beta1, c1 = 1 - b1;
    const cr_real b2 = (cr_real)o->beta2, eps = (cr_real)o->eps;
    const cr_real a = lr / (cr_real)(1 - pow((double)b1, (double)u->t));
    cr_real *restrict m = u->slot[0], *restrict v = u->slot[1];

    CR_SIMD
    for (int64_t i = 0; i < n; i++) {
        cr_real g = scale * gs[i] + decay * w[i];

        cr_real size = g < 0 ? -g : g, decayed = b2 * v[i];

        m[i] = b1 * m[i] + c1 * g;
        v[i] = decayed > size ? decayed : size;
        w[i] -= a * m[i] / (v[i] + eps);
    }
}

static const struct cr_optim_number ada_max_numbers[] = {
    { "beta1_power", offsetof(struct ada_max, beta1), true, 1 },
    { 0 },
};

const struct cr_optim cr_optim_ada_max = {
    .about = {
        .name = "AdaMax",
        .summary = "AdaMax: Adam with the maximum of the gradients as second "
                   "moment.",
        .detail = "m = beta1 m + (1 - beta1) g; v = max(beta2 v, |g|); w -= "
                  "lr / (1 - beta1^t) m / (v + eps).",
        .example = "optimizer: {AdaMax: {learning_rate: 2e-3}}\n",
        .opts = ada_max_opts,
        .size = sizeof(struct ada_max),
    },
    .slots = 2,
    .slot_names = { "moment1", "moment2" },
    .numbers = ada_max_numbers,
    .update = ada_max_update,
};

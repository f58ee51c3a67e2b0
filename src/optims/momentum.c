/*
 * Momentum: stochastic gradient descent with momentum (Polyak 1964).
 *
 *   g = g + weight_decay w
 *   v = momentum v + g
 *   w = w - lr v            or, with use_nesterov, w - lr g - lr momentum v
 *
 * Slot: moments is v, initially 0. MindSpore's CPU kernel ignores
 * use_nesterov; its GPU kernel applies it, as here.
 */
#include "base/compiler.h"
#include "train/optim.h"

struct momentum {
    struct cr_optim_common common;
    double momentum;
    bool use_nesterov;
};

static const struct cr_opt momentum_opts[] = {
    CR_OPTIM_LR(struct momentum, .need = CR_REQUIRED),
    CR_REAL(struct momentum, momentum, 0, DBL_MAX, "Momentum factor."),
    CR_OPTIM_DECAY(struct momentum),
    CR_OPTIM_SCALE(struct momentum),
    CR_BOOL_DEFAULT(struct momentum, use_nesterov, false,
                    "Use Nesterov momentum."),
    CR_OPTIM_GROUPS(struct momentum),
    { 0 },
};

CR_CLONES static void momentum_update(const struct cr_update *u)
{
    const struct momentum *o = u->opts;
    const cr_real lr = (cr_real)u->lr, decay = (cr_real)u->weight_decay;
    const cr_real scale = (cr_real)u->scale, mu = (cr_real)o->momentum;
    const bool nesterov = o->use_nesterov;
    cr_real *restrict w = u->w, *restrict v = u->slot[0];
    const cr_real *restrict gs = u->g;
    const int64_t n = u->n;

    CR_SIMD
    for (int64_t i = 0; i < n; i++) {
        cr_real g = scale * gs[i] + decay * w[i];

        v[i] = mu * v[i] + g;
        w[i] -= nesterov ? lr * g + lr * mu * v[i] : lr * v[i];
    }
}

static const struct cr_optim_number momentum_numbers[] = {
    { "momentum", offsetof(struct momentum, momentum), false, 0 },
    { 0 },
};

const struct cr_optim cr_optim_momentum = {
    .about = {
        .name = "Momentum",
        .summary = "Stochastic gradient descent with momentum.",
        .detail = "v = momentum v + g; w -= lr v. With use_nesterov: w -= lr g "
                  "+ lr momentum v.",
        .example = "optimizer: {Momentum: {learning_rate: 0.01, "
                   "momentum: 0.9, weight_decay: 1e-4}}\n",
        .opts = momentum_opts,
        .size = sizeof(struct momentum),
    },
    .slots = 1,
    .slot_names = { "moments" },
    .slot_start = { 0 },
    .numbers = momentum_numbers,
    .update = momentum_update,
};

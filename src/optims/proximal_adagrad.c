/*
 * ProximalAdagrad: Adagrad with L1 and L2 regularisation (Duchi, Singer:
 * Forward backward splitting, 2009).
 *
 *   g = g + weight_decay w
 *   s = s + g^2        e = lr / sqrt(s)        q = w - e g
 *   w = sign(q) max(|q| - e l1, 0) / (1 + e l2)
 *
 * Slot: accum is s, initially the option accum.
 */
#include "base/compiler.h"
#include "train/optim.h"

CR_O3

struct proximal_adagrad {
    struct cr_optim_common common;
    double accum, l1, l2;
};

static const struct cr_opt proximal_adagrad_opts[] = {
    CR_REAL_POS_DEFAULT(struct proximal_adagrad, accum, 0.1, DBL_MAX,
                        "Initial value of the sum of squared gradients."),
    CR_OPTIM_LR(struct proximal_adagrad, .need = CR_DEFAULT, .text = "1e-3"),
    CR_REAL_DEFAULT(struct proximal_adagrad, l1, 0, 0, DBL_MAX, "L1 penalty."),
    CR_REAL_DEFAULT(struct proximal_adagrad, l2, 0, 0, DBL_MAX, "L2 penalty."),
    CR_OPTIM_SCALE(struct proximal_adagrad),
    CR_OPTIM_DECAY(struct proximal_adagrad),
    CR_OPTIM_GROUPS(struct proximal_adagrad),
    { 0 },
};

static double proximal_adagrad_start(const void *opts, int slot)
{
    const struct proximal_adagrad *o = opts;

    (void)slot;
    return o->accum;
}

CR_CLONES static void proximal_adagrad_update(const struct cr_update *u)
{
    const struct proximal_adagrad *o = u->opts;
    const cr_real lr = (cr_real)u->lr, scale = (cr_real)u->scale;
    const cr_real decay = (cr_real)u->weight_decay;
    cr_real *restrict w = u->w;
    const cr_real *restrict gs = u->g;
    const int64_t n = u->n;
    const cr_real l1 = (cr_real)o->l1, l2 = (cr_real)o->l2;
    cr_real *restrict s = u->slot[0];

    CR_SIMD
    for (int64_t i = 0; i < n; i++) {
        cr_real g = scale * gs[i] + decay * w[i];

        cr_real e, q, rest;

        s[i] += g * g;
        e = lr / cr_sqrt(s[i]);
        q = w[i] - e * g;
        rest = (q < 0 ? -q : q) - e * l1;
        rest = rest > 0 ? rest / (1 + e * l2) : 0;
        w[i] = q < 0 ? -rest : rest;
    }
}

const struct cr_optim cr_optim_proximal_adagrad = {
    .about = {
        .name = "ProximalAdagrad",
        .summary = "Proximal Adagrad: Adagrad with L1 and L2 regularisation.",
        .detail = "s += g^2; e = lr / sqrt(s); q = w - e g; w = sign(q) "
                  "max(|q| - e l1, 0) / (1 + e l2).",
        .example = "optimizer: {ProximalAdagrad: {learning_rate: 0.01, l1: "
                   "1e-4}}\n",
        .opts = proximal_adagrad_opts,
        .size = sizeof(struct proximal_adagrad),
    },
    .slots = 1,
    .slot_names = { "accum" },
    .update = proximal_adagrad_update,
    .start = proximal_adagrad_start,
};

/*
 * Adagrad: adaptive subgradient descent (Duchi, Hazan, Singer, 2011).
 *
 *   g = g + weight_decay w
 *   s = s + g^2
 *   w = w - lr g / sqrt(s + 1e-8)
 *
 * update_slots: false leaves s unchanged. Slot: accum is s, initially the
 * option accum.
 */
#include "base/compiler.h"
#include "train/optim.h"

CR_O3

struct adagrad {
    struct cr_optim_common common;
    double accum;
    bool update_slots;
};

static const struct cr_opt adagrad_opts[] = {
    CR_REAL_DEFAULT(struct adagrad, accum, 0.1, 0, DBL_MAX,
                    "Initial value of the sum of squared gradients."),
    CR_OPTIM_LR(struct adagrad, .need = CR_DEFAULT, .text = "1e-3"),
    CR_BOOL_DEFAULT(struct adagrad, update_slots, true,
                    "Update the sum of squared gradients."),
    CR_OPTIM_SCALE(struct adagrad),
    CR_OPTIM_DECAY(struct adagrad),
    CR_OPTIM_GROUPS(struct adagrad),
    { 0 },
};

static double adagrad_start(const void *opts, int slot)
{
    const struct adagrad *o = opts;

    (void)slot;
    return o->accum;
}

CR_CLONES static void adagrad_update(const struct cr_update *u)
{
    const struct adagrad *o = u->opts;
    const cr_real lr = (cr_real)u->lr, scale = (cr_real)u->scale;
    const cr_real decay = (cr_real)u->weight_decay;
    cr_real *restrict w = u->w;
    const cr_real *restrict gs = u->g;
    const int64_t n = u->n;
    const cr_real more = o->update_slots ? 1 : 0;
    cr_real *restrict s = u->slot[0];

    CR_SIMD
    for (int64_t i = 0; i < n; i++) {
        cr_real g = scale * gs[i] + decay * w[i];

        s[i] += more * (g * g);
        w[i] -= lr * g / cr_sqrt(s[i] + (cr_real)1e-8);
    }
}

const struct cr_optim cr_optim_adagrad = {
    .about = {
        .name = "Adagrad",
        .summary = "Adagrad: learning rates divided by the root of summed "
                   "squared gradients.",
        .detail = "s += g^2; w -= lr g / sqrt(s + 1e-8), with s = accum before "
                  "the first update. update_slots: false leaves s unchanged.",
        .example = "optimizer: {Adagrad: {learning_rate: 0.01}}\n",
        .opts = adagrad_opts,
        .size = sizeof(struct adagrad),
    },
    .slots = 1,
    .slot_names = { "accum" },
    .update = adagrad_update,
    .start = adagrad_start,
};

/*
 * Adadelta: step sizes from past gradients and past updates (Zeiler, 2012).
 *
 *   g = g + weight_decay w
 *   s = rho s + (1 - rho) g^2
 *   d = g sqrt(a + epsilon) / sqrt(s + epsilon)
 *   a = rho a + (1 - rho) d^2
 *   w = w - lr d
 *
 * Slots: accum is s, accum_update is a; initially 0.
 */
#include "base/compiler.h"
#include "train/optim.h"

CR_O3

struct adadelta {
    struct cr_optim_common common;
    double rho, epsilon;
};

static const struct cr_opt adadelta_opts[] = {
    CR_OPTIM_LR(struct adadelta, .need = CR_DEFAULT, .text = "1.0"),
    CR_REAL_DEFAULT(struct adadelta, rho, 0.9, 0, 1,
                    "Exponential decay rate of both second moments."),
    CR_REAL_POS_DEFAULT(
        struct adadelta, epsilon, 1e-6, DBL_MAX,
        "Added to both second moments for numerical stability."),
    CR_OPTIM_SCALE(struct adadelta),
    CR_OPTIM_DECAY(struct adadelta),
    CR_OPTIM_GROUPS(struct adadelta),
    { 0 },
};

CR_CLONES static void adadelta_update(const struct cr_update *u)
{
    const struct adadelta *o = u->opts;
    const cr_real lr = (cr_real)u->lr, scale = (cr_real)u->scale;
    const cr_real decay = (cr_real)u->weight_decay;
    cr_real *restrict w = u->w;
    const cr_real *restrict gs = u->g;
    const int64_t n = u->n;
    const cr_real rho = (cr_real)o->rho, rest = 1 - rho;
    const cr_real eps = (cr_real)o->epsilon;
    cr_real *restrict s = u->slot[0], *restrict a = u->slot[1];

    CR_SIMD
    for (int64_t i = 0; i < n; i++) {
        cr_real g = scale * gs[i] + decay * w[i];

        cr_real d;

        s[i] = rho * s[i] + rest * g * g;
        d = g * cr_sqrt(a[i] + eps) / cr_sqrt(s[i] + eps);
        a[i] = rho * a[i] + rest * d * d;
        w[i] -= lr * d;
    }
}

const struct cr_optim cr_optim_adadelta = {
    .about = {
        .name = "Adadelta",
        .summary = "Adadelta: step sizes adapted to past gradients and "
                   "updates.",
        .detail = "s = rho s + (1 - rho) g^2; d = g sqrt(a + epsilon) / "
                  "sqrt(s + epsilon); a = rho a + (1 - rho) d^2; w -= lr d.",
        .example = "optimizer: {Adadelta: {learning_rate: 1.0}}\n",
        .opts = adadelta_opts,
        .size = sizeof(struct adadelta),
    },
    .slots = 2,
    .slot_names = { "accum", "accum_update" },
    .update = adadelta_update,
};

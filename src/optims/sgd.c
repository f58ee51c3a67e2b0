/*
 * SGD: stochastic gradient descent, with or without momentum (Polyak 1964;
 * Nesterov 1983).
 *
 *   g = g + weight_decay w
 *   a = g                           at the first update of a parameter
 *   a = momentum a + (1 - dampening) g   afterwards
 *   w = w - lr u    u = a, or g + momentum a with nesterov
 *
 * Slots: accum is a, stat is 1 before the first update of the parameter and 0
 * afterwards. Without momentum u is g and neither slot changes.
 */
#include "base/compiler.h"
#include "train/optim.h"

struct sgd {
    struct cr_optim_common common;
    double momentum, dampening;
    bool nesterov;
};

static const struct cr_opt sgd_opts[] = {
    CR_OPTIM_LR(struct sgd, .need = CR_DEFAULT, .text = "0.1"),
    CR_REAL_DEFAULT(struct sgd, momentum, 0, 0, DBL_MAX, "Momentum factor."),
    CR_REAL_DEFAULT(
        struct sgd, dampening, 0, 0, 1,
        "Dampening: the gradient enters the momentum buffer times 1 - "
        "dampening."),
    CR_OPTIM_DECAY(struct sgd),
    CR_BOOL_DEFAULT(struct sgd, nesterov, false, "Use Nesterov momentum."),
    CR_OPTIM_SCALE(struct sgd),
    CR_OPTIM_GROUPS(struct sgd),
    { 0 },
};

static const char *const sgd_checked[] = { "nesterov", "momentum", "dampening",
                                           NULL };

static bool sgd_check(struct cr_diag *diag, struct cr_pos pos,
                      const void *opts)
{
    const struct sgd *o = opts;

    if (o->nesterov && (o->momentum == 0 || o->dampening != 0))
        return cr_error(diag, pos, CR_E_CONFLICT,
                        "nesterov of SGD requires momentum above 0 and "
                        "dampening 0");
    return true;
}

static bool sgd_plain(const void *opts)
{
    const struct sgd *o = opts;

    return o->momentum == 0 && o->common.weight_decay == 0;
}

CR_CLONES static void sgd_update(const struct cr_update *u)
{
    const struct sgd *o = u->opts;
    const cr_real lr = (cr_real)u->lr, decay = (cr_real)u->weight_decay;
    const cr_real scale = (cr_real)u->scale, mu = (cr_real)o->momentum;
    const cr_real undamped = (cr_real)(1 - o->dampening);
    const bool nesterov = o->nesterov;
    cr_real *restrict w = u->w, *restrict a = u->slot[0];
    cr_real *restrict stat = u->slot[1];
    const cr_real *restrict gs = u->g;
    const int64_t n = u->n;

    if (mu == 0) {
        CR_SIMD
        for (int64_t i = 0; i < n; i++)
            w[i] -= lr * (scale * gs[i] + decay * w[i]);
        return;
    }
    CR_SIMD
    for (int64_t i = 0; i < n; i++) {
        cr_real g = scale * gs[i] + decay * w[i];

        a[i] = stat[i] > 0 ? g : mu * a[i] + undamped * g;
        stat[i] = 0;
        w[i] -= lr * (nesterov ? g + mu * a[i] : a[i]);
    }
}

static const struct cr_optim_number sgd_numbers[] = {
    { "momentum", offsetof(struct sgd, momentum), false, 0 },
    { 0 },
};

const struct cr_optim cr_optim_sgd = {
    .about = {
        .name = "SGD",
        .summary = "Stochastic gradient descent, optionally with momentum.",
        .detail = "w -= lr g. With momentum: a = momentum a + (1 - dampening) "
                  "g; w -= lr a, where a is the gradient in the first update.",
        .example = "optimizer: {SGD: {learning_rate: 1e-2}}\n",
        .opts = sgd_opts,
        .size = sizeof(struct sgd),
    },
    .slots = 2,
    .slot_names = { "accum", "stat" },
    .slot_start = { 0, 1 },
    .numbers = sgd_numbers,
    .update = sgd_update,
    .check = sgd_check,
    .checked = sgd_checked,
    .plain = sgd_plain,
};

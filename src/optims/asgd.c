/*
 * ASGD: averaged stochastic gradient descent (Polyak, Juditsky, 1992).
 *
 *   g = g + weight_decay w
 *   w = w (1 - lambd eta) - eta g       a = a + mu (w - a)
 *   then eta = lr / (1 + lambd lr t)^alpha, mu = 1 / max(1, t - t0)
 *
 * Slots: ax_ is a, initially 0; eta_ and mu_ are scalars. eta is initially the
 * learning rate, stored as 0 before the first update; mu is initially 1.
 */
#include "base/compiler.h"
#include "train/optim.h"

CR_O3

struct asgd {
    struct cr_optim_common common;
    double lambd, alpha, t0;
};

static const struct cr_opt asgd_opts[] = {
    CR_OPTIM_LR(struct asgd, .need = CR_DEFAULT, .text = "0.1"),
    CR_REAL_DEFAULT(
        struct asgd, lambd, 1e-4, 0, DBL_MAX,
        "Decay: each update multiplies parameters by 1 - lambd * eta; "
        "it also sets how fast eta falls."),
    CR_REAL_DEFAULT(struct asgd, alpha, 0.75, 0, DBL_MAX,
                    "Exponent of the decay of eta."),
    CR_REAL_DEFAULT(struct asgd, t0, 1e6, 0, DBL_MAX,
                    "Update at which averaging starts."),
    CR_OPTIM_DECAY(struct asgd),
    CR_OPTIM_GROUPS(struct asgd),
    { 0 },
};

CR_CLONES static void asgd_update(const struct cr_update *u)
{
    const struct asgd *o = u->opts;
    const cr_real eta = u->slot[1][0] > 0 ? u->slot[1][0] : (cr_real)u->lr;
    const cr_real mu = u->slot[2][0], shrink = 1 - (cr_real)o->lambd * eta;
    const cr_real scale = (cr_real)u->scale, decay = (cr_real)u->weight_decay;
    const cr_real *restrict gs = u->g;
    cr_real *restrict w = u->w, *restrict a = u->slot[0];
    const int64_t n = u->n;

    CR_SIMD
    for (int64_t i = 0; i < n; i++) {
        cr_real g = scale * gs[i] + decay * w[i];

        w[i] = w[i] * shrink - eta * g;
        a[i] = mu == 1 ? w[i] : a[i] + (w[i] - a[i]) * mu;
    }
}

static void asgd_finish(const struct cr_update *u)
{
    const struct asgd *o = u->opts;
    double t = (double)u->t;

    u->slot[1][0] =
        (cr_real)(u->lr / pow(1 + o->lambd * u->lr * t, o->alpha));
    u->slot[2][0] = (cr_real)(1 / fmax(1, t - o->t0));
}

const struct cr_optim cr_optim_asgd = {
    .about = {
        .name = "ASGD",
        .summary = "ASGD: averaged stochastic gradient descent.",
        .detail = "w = w (1 - lambd eta) - eta g, with eta = lr / (1 + lambd "
                  "lr t)^alpha. The slot ax_ holds the mean of w since update "
                  "t0.",
        .example = "optimizer: {ASGD: {learning_rate: 0.1}}\n",
        .opts = asgd_opts,
        .size = sizeof(struct asgd),
    },
    .slots = 3,
    .slot_names = { "ax_", "eta_", "mu_" },
    .slot_start = { 0, 0, 1 },
    .scalars = 1u << 1 | 1u << 2,
    .update = asgd_update,
    .finish = asgd_finish,
};

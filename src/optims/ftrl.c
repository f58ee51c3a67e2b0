/*
 * FTRL: follow the regularised leader, which sets parameters to exact zeros
 * (McMahan et al.: Ad click prediction, 2013).
 *
 *   g = g + weight_decay w              p = -lr_power
 *   s' = s + g^2
 *   z = z + g - (s'^p - s^p) / lr w
 *   w = (sign(z) l1 - z) / (s'^p / lr + 2 l2) where |z| > l1, else 0
 *
 * MindSpore's CPU kernel adds +l1 for any sign of z; this is the formula of
 * the paper. A learning rate of 0 leaves everything unchanged. Slots: moments
 * is s, initially initial_accum; linear is z, initially 0.
 */
#include "base/compiler.h"
#include "train/optim.h"

CR_O3

struct ftrl {
    struct cr_optim_common common;
    double initial_accum, lr_power, l1, l2;
};

static const struct cr_opt ftrl_opts[] = {
    CR_REAL_DEFAULT(struct ftrl, initial_accum, 0.1, 0, DBL_MAX,
                    "Initial value of the sum of squared gradients."),
    CR_OPTIM_LR(struct ftrl, .need = CR_DEFAULT, .text = "1e-3"),
    CR_REAL_DEFAULT(struct ftrl, lr_power, -0.5, -DBL_MAX, 0,
                    "Exponent of the sum of squared gradients in the learning "
                    "rate."),
    CR_REAL_DEFAULT(struct ftrl, l1, 0, 0, DBL_MAX, "L1 penalty."),
    CR_REAL_DEFAULT(struct ftrl, l2, 0, 0, DBL_MAX, "L2 penalty."),
    CR_OPTIM_SCALE(struct ftrl),
    CR_OPTIM_DECAY_ROW(struct ftrl,
                       "Weight decay: weight_decay * parameter is added to "
                       "the gradient."),
    CR_OPTIM_GROUPS(struct ftrl),
    { 0 },
};

static double ftrl_start(const void *opts, int slot)
{
    const struct ftrl *o = opts;

    return slot == 0 ? o->initial_accum : 0;
}

/* For p = 1/2, power(v) is the square root, which vectorises. */
#define FTRL_LOOP(power)                                             \
    CR_SIMD                                                          \
    for (int64_t i = 0; i < n; i++) {                                \
        cr_real g = scale * gs[i] + decay * w[i];                    \
        cr_real more = s[i] + g * g, top = power(more), size;        \
                                                                     \
        z[i] += g - (top - power(s[i])) / lr * w[i];                 \
        s[i] = more;                                                 \
        size = z[i] < 0 ? -z[i] : z[i];                              \
        w[i] = size > l1 ? ((z[i] < 0 ? -l1 : l1) - z[i]) /          \
                               (top / lr + 2 * l2)                   \
                         : 0;                                        \
    }
#define FTRL_POWER(v) cr_pow(v, p)

CR_CLONES static void ftrl_update(const struct cr_update *u)
{
    const struct ftrl *o = u->opts;
    const cr_real lr = (cr_real)u->lr, scale = (cr_real)u->scale;
    const cr_real decay = (cr_real)u->weight_decay;
    cr_real *restrict w = u->w;
    const cr_real *restrict gs = u->g;
    const int64_t n = u->n;
    const cr_real p = (cr_real)-o->lr_power;
    const cr_real l1 = (cr_real)o->l1, l2 = (cr_real)o->l2;
    cr_real *restrict s = u->slot[0], *restrict z = u->slot[1];

    if (lr <= 0)
        return;
    if (o->lr_power == -0.5)
        FTRL_LOOP(cr_sqrt)
    else
        FTRL_LOOP(FTRL_POWER)
}

const struct cr_optim cr_optim_ftrl = {
    .about = {
        .name = "FTRL",
        .summary = "FTRL: follow the regularised leader, with sparse "
                   "parameters.",
        .detail = "s += g^2; z += g - (s^p - s_before^p) / lr w, with p = "
                  "-lr_power; w = (sign(z) l1 - z) / (s^p / lr + 2 l2) where "
                  "|z| > l1, else 0.",
        .example = "optimizer: {FTRL: {learning_rate: 0.01, l1: 1e-4}}\n",
        .opts = ftrl_opts,
        .size = sizeof(struct ftrl),
    },
    .slots = 2,
    .slot_names = { "moments", "linear" },
    .update = ftrl_update,
    .start = ftrl_start,
    .decays_all = true,
};

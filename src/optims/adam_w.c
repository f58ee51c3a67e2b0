/*
 * AdamW: Adam with decoupled weight decay, as in PyTorch (Loshchilov, Hutter:
 * Decoupled weight decay regularization, 2019).
 *
 *   w = w (1 - lr weight_decay)
 *   m = beta1 m + (1 - beta1) g         v = beta2 v + (1 - beta2) g^2
 *   w = w - lr / (1 - beta1^t) m / (sqrt(v) / sqrt(1 - beta2^t) + eps)
 *
 * amsgrad replaces v in the last line by the maximum of v so far. All
 * parameters are decayed, whatever their names, unless group_params overrides
 * it.
 *
 * Slots: exp_avg is m, exp_avg_sq is v, max_exp_avg_sq the maximum of v; all
 * initially 0.
 */
#include "base/compiler.h"
#include "train/optim.h"

CR_O3

struct adam_w {
    struct cr_optim_common common;
    struct cr_reals betas;
    double eps;
    bool amsgrad, maximize;
};

static const struct cr_opt adam_w_opts[] = {
    CR_OPTIM_LR(struct adam_w, .need = CR_DEFAULT, .text = "1e-3"),
    CR_REALS_OPTIONAL(
        struct adam_w, betas, 0, 1,
        "Exponential decay rates of the first and the second moment. "
        "Default: 0.9 and 0.999."),
    CR_REAL_POS_DEFAULT(struct adam_w, eps, 1e-8, DBL_MAX,
                        "Added to the denominator for numerical stability."),
    { .name = "weight_decay",
      .at = offsetof(struct adam_w, common.weight_decay),
      .type = CR_OPT_REAL,
      .need = CR_DEFAULT,
      .real_default = 0.01,
      .max = DBL_MAX,
      .doc = "Decoupled weight decay: each update multiplies parameters by 1 - "
             "lr * weight_decay." },
    CR_BOOL_DEFAULT(
        struct adam_w, amsgrad, false,
        "Use AMSGrad: divide by the maximum of the second moments so "
        "far."),
    CR_BOOL_DEFAULT(struct adam_w, maximize, false,
                    "Maximise the loss instead of minimising it."),
    CR_OPTIM_GROUPS(struct adam_w),
    { 0 },
};

static const char *const adam_w_checked[] = { "betas", NULL };

static bool adam_w_check(struct cr_diag *diag, struct cr_pos pos,
                         const void *opts)
{
    const struct adam_w *o = opts;

    if ((o->betas.n != 0 && o->betas.n != 2) ||
        (o->betas.n == 2 && (o->betas.v[0] == 1 || o->betas.v[1] == 1)))
        return cr_error(diag, pos, CR_E_OUT_OF_RANGE,
                        "betas of AdamW: expected two numbers from 0 to less "
                        "than 1");
    return true;
}

static int adam_w_count(const void *opts)
{
    const struct adam_w *o = opts;

    return o->amsgrad ? 3 : 2;
}

CR_CLONES static void adam_w_update(const struct cr_update *u)
{
    const struct adam_w *o = u->opts;
    const double t = (double)u->t;
    const double beta1 = o->betas.n ? o->betas.v[0] : 0.9;
    const double beta2 = o->betas.n ? o->betas.v[1] : 0.999;
    const cr_real a = (cr_real)(u->lr / (1 - pow(beta1, t)));
    const cr_real root = (cr_real)(1 / sqrt(1 - pow(beta2, t)));
    const cr_real b1 = (cr_real)beta1, c1 = (cr_real)(1 - beta1);
    const cr_real b2 = (cr_real)beta2, c2 = (cr_real)(1 - beta2);
    const cr_real shrink = (cr_real)(1 - u->lr * u->weight_decay);
    const cr_real scale = (cr_real)(o->maximize ? -u->scale : u->scale);
    const cr_real eps = (cr_real)o->eps;
    cr_real *restrict w = u->w, *restrict m = u->slot[0];
    cr_real *restrict v = u->slot[1], *restrict v_max = u->slot[2];
    const cr_real *restrict gs = u->g;
    const int64_t n = u->n;

    if (o->amsgrad) {
        CR_SIMD
        for (int64_t i = 0; i < n; i++) {
            cr_real g = scale * gs[i];

            m[i] = b1 * m[i] + c1 * g;
            v[i] = b2 * v[i] + c2 * g * g;
            v_max[i] = v_max[i] > v[i] ? v_max[i] : v[i];
            w[i] = shrink * w[i] - a * m[i] / (cr_sqrt(v_max[i]) * root + eps);
        }
        return;
    }
    CR_SIMD
    for (int64_t i = 0; i < n; i++) {
        cr_real g = scale * gs[i];

        m[i] = b1 * m[i] + c1 * g;
        v[i] = b2 * v[i] + c2 * g * g;
        w[i] = shrink * w[i] - a * m[i] / (cr_sqrt(v[i]) * root + eps);
    }
}

const struct cr_optim cr_optim_adam_w = {
    .about = {
        .name = "AdamW",
        .summary = "Adam with decoupled weight decay, as in PyTorch.",
        .detail = "w *= 1 - lr weight_decay; then Adam's update, with both "
                  "moments corrected for their bias before eps is added. All "
                  "parameters are decayed, whatever their names. "
                  "AdamWeightDecay is MindSpore's variant.",
        .example = "optimizer: {AdamW: {learning_rate: 3e-4}}\n",
        .opts = adam_w_opts,
        .size = sizeof(struct adam_w),
    },
    .slots = 3,
    .slot_names = { "exp_avg", "exp_avg_sq", "max_exp_avg_sq" },
    .counter = "state_step",
    .update = adam_w_update,
    .check = adam_w_check,
    .checked = adam_w_checked,
    .count = adam_w_count,
    .decays_all = true,
};

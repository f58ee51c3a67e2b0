/*
 * LAMB: Adam with a trust ratio per parameter (You et al.: Large batch
 * optimization for deep learning, 2020).
 *
 *   m = beta1 m + (1 - beta1) g         v = beta2 v + (1 - beta2) g^2
 *   m' = m / (1 - beta1^t)              v' = v / (1 - beta2^t)
 *   u = m' / (sqrt(v') + eps) + weight_decay w
 *   trust = |w| / |m' / sqrt(v' + eps) + weight_decay w|, at most 10; 1 if
 *           one of the norms is 0
 *   w = w - lr trust u
 *
 * Norms are taken over one parameter. Slots: lamb_m is m, lamb_v is v,
 * initially 0.
 */
#include "train/optim.h"

struct lamb {
    struct cr_optim_common common;
    double beta1, beta2, eps;
};

enum { W, U };

static const struct cr_opt lamb_opts[] = {
    CR_OPTIM_LR(struct lamb, .need = CR_REQUIRED),
    CR_REAL_DEFAULT(struct lamb, beta1, 0.9, 0, 1,
                    "Exponential decay rate of the first moment."),
    CR_REAL_DEFAULT(struct lamb, beta2, 0.999, 0, 1,
                    "Exponential decay rate of the second moment."),
    CR_REAL_POS_DEFAULT(struct lamb, eps, 1e-6, DBL_MAX,
                        "Added to the denominator for numerical stability."),
    CR_OPTIM_DECOUPLED_DECAY(struct lamb),
    CR_OPTIM_GROUPS(struct lamb),
    { 0 },
};

static const char *const lamb_checked[] = { "beta1", "beta2", NULL };

static bool lamb_check(struct cr_diag *diag, struct cr_pos pos,
                       const void *opts)
{
    const struct lamb *o = opts;

    if (o->beta1 == 1 || o->beta2 == 1)
        return cr_error(diag, pos, CR_E_OUT_OF_RANGE,
                        "beta1 and beta2 of Lamb: expected numbers below 1");
    return true;
}

struct lamb_numbers {
    cr_real b1, b2, eps, scale, decay, mean, square;
};

static struct lamb_numbers lamb_numbers(const struct cr_update *u)
{
    const struct lamb *o = u->opts;
    cr_real b1 = (cr_real)o->beta1, b2 = (cr_real)o->beta2;

    return (struct lamb_numbers){
        .b1 = b1,
        .b2 = b2,
        .eps = (cr_real)o->eps,
        .scale = (cr_real)u->scale,
        .decay = (cr_real)u->weight_decay,
        .mean = (cr_real)(1 / (1 - pow((double)b1, (double)u->t))),
        .square = (cr_real)(1 / (1 - pow((double)b2, (double)u->t))),
    };
}

static void lamb_reduce(const struct cr_update *u, double sum[CR_SUMS_MAX])
{
    struct lamb_numbers k = lamb_numbers(u);
    double ww = 0, uu = 0;

    for (int64_t i = 0; i < u->n; i++) {
        cr_real g = k.scale * u->g[i];
        cr_real m = k.b1 * u->slot[0][i] + (1 - k.b1) * g;
        cr_real v = k.b2 * u->slot[1][i] + (1 - k.b2) * g * g;
        cr_real d = k.mean * m / cr_sqrt(k.square * v + k.eps) +
                    k.decay * u->w[i];

        ww += (double)u->w[i] * (double)u->w[i];
        uu += (double)d * (double)d;
    }
    sum[W] = ww;
    sum[U] = uu;
}

static void lamb_update(const struct cr_update *u)
{
    struct lamb_numbers k = lamb_numbers(u);
    double trust = u->sum[W] > 0 && u->sum[U] > 0
                       ? fmin(sqrt(u->sum[W] / u->sum[U]), 10)
                       : 1;
    cr_real step = (cr_real)(u->lr * trust);
    cr_real *m = u->slot[0], *v = u->slot[1];

    for (int64_t i = 0; i < u->n; i++) {
        cr_real g = k.scale * u->g[i];

        m[i] = k.b1 * m[i] + (1 - k.b1) * g;
        v[i] = k.b2 * v[i] + (1 - k.b2) * g * g;
        u->w[i] -= step * (k.mean * m[i] /
                               (cr_sqrt(k.square * v[i]) + k.eps) +
                           k.decay * u->w[i]);
    }
}

const struct cr_optim cr_optim_lamb = {
    .about = {
        .name = "Lamb",
        .summary = "LAMB: layer-wise adaptive moments, for large batches.",
        .detail = "w -= lr trust u, with u = m / (sqrt(v) + eps) + "
                  "weight_decay w, m and v as in Adam with bias correction, "
                  "and trust = |w| / |u|, at most 10.",
        .example = "optimizer: {Lamb: {learning_rate: 2e-3, weight_decay: "
                   "0.01}}\n",
        .opts = lamb_opts,
        .size = sizeof(struct lamb),
    },
    .slots = 2,
    .slot_names = { "lamb_m", "lamb_v" },
    .sums = 2,
    .reduce = lamb_reduce,
    .update = lamb_update,
    .check = lamb_check,
    .checked = lamb_checked,
};

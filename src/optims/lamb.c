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
#include "base/compiler.h"
#include "train/optim.h"

CR_O3

#define LANES 64

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

/* Sums of each of LANES numbers, which go side by side. */
CR_CLONES static void lamb_reduce(const struct cr_update *u,
                                  double sum[CR_SUMS_MAX])
{
    const struct lamb_numbers k = lamb_numbers(u);
    const cr_real *w = u->w, *gs = u->g, *m = u->slot[0], *v = u->slot[1];
    double ww[LANES] = { 0 }, uu[LANES] = { 0 };

    for (int64_t i = 0; i < u->n; i += LANES) {
        cr_real d[LANES] = { 0 }, own[LANES] = { 0 };
        int64_t n = u->n - i < LANES ? u->n - i : LANES;

        for (int64_t j = 0; j < n; j++) {
            cr_real g = k.scale * gs[i + j];
            cr_real mean = k.b1 * m[i + j] + (1 - k.b1) * g;
            cr_real square = k.b2 * v[i + j] + (1 - k.b2) * g * g;

            own[j] = w[i + j];
            d[j] = k.mean * mean / cr_sqrt(k.square * square + k.eps) +
                   k.decay * own[j];
        }
        for (int j = 0; j < LANES; j++) {
            ww[j] += (double)own[j] * (double)own[j];
            uu[j] += (double)d[j] * (double)d[j];
        }
    }
    sum[W] = sum[U] = 0;
    for (int j = 0; j < LANES; j++) {
        sum[W] += ww[j];
        sum[U] += uu[j];
    }
}

CR_CLONES static void lamb_update(const struct cr_update *u)
{
    const struct lamb_numbers k = lamb_numbers(u);
    double trust = u->sum[W] > 0 && u->sum[U] > 0
                       ? fmin(sqrt(u->sum[W] / u->sum[U]), 10)
                       : 1;
    const cr_real step = (cr_real)(u->lr * trust);
    cr_real *restrict w = u->w, *restrict m = u->slot[0];
    cr_real *restrict v = u->slot[1];
    const cr_real *restrict gs = u->g;
    const int64_t n = u->n;

    CR_SIMD
    for (int64_t i = 0; i < n; i++) {
        cr_real g = k.scale * gs[i];

        m[i] = k.b1 * m[i] + (1 - k.b1) * g;
        v[i] = k.b2 * v[i] + (1 - k.b2) * g * g;
        w[i] -= step * (k.mean * m[i] / (cr_sqrt(k.square * v[i]) + k.eps) +
                        k.decay * w[i]);
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

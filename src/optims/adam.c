/*
 * Adam: adaptive moment estimation (Kingma, Ba, 2015).
 *
 *   g = g + weight_decay w
 *   m = beta1 m + (1 - beta1) g         v = beta2 v + (1 - beta2) g^2
 *   a = lr sqrt(1 - beta2^t) / (1 - beta1^t)
 *   w = w - a m / (sqrt(v) + eps)
 *
 * use_nesterov replaces m in the last line by beta1 m + (1 - beta1) g,
 * use_amsgrad replaces v by the maximum of v so far. eps is added before v is
 * corrected for its bias, as in MindSpore's kernel; the paper adds it after.
 * 1 - beta is computed from beta rounded to float32, as in MindSpore.
 *
 * LazyAdam is the same rule for the rows of a table that have a gradient
 * (PyTorch's SparseAdam; MindSpore's LazyAdam with gradients of rows).
 *
 * Slots: moment1 is m, moment2 is v, vhat the maximum of v; all initially 0.
 */
#include "base/compiler.h"
#include "train/optim.h"

CR_O3

struct adam {
    struct cr_optim_common common;
    double beta1, beta2, eps;
    bool use_nesterov, use_amsgrad;
};

static const struct cr_opt adam_opts[] = {
    CR_OPTIM_LR(struct adam, .need = CR_DEFAULT, .text = "1e-3"),
    CR_REAL_DEFAULT(struct adam, beta1, 0.9, 0, 1,
                    "Exponential decay rate of the first moment."),
    CR_REAL_DEFAULT(struct adam, beta2, 0.999, 0, 1,
                    "Exponential decay rate of the second moment."),
    CR_REAL_POS_DEFAULT(struct adam, eps, 1e-8, DBL_MAX,
                        "Added to the denominator for numerical stability."),
    CR_BOOL_DEFAULT(struct adam, use_nesterov, false, "Use Nesterov momentum."),
    CR_OPTIM_DECAY(struct adam),
    CR_OPTIM_SCALE(struct adam),
    CR_BOOL_DEFAULT(
        struct adam, use_amsgrad, false,
        "Use AMSGrad: divide by the maximum of the second moments so "
        "far."),
    CR_OPTIM_GROUPS(struct adam),
    { 0 },
};

static const char *const adam_checked[] = { "beta1", "beta2", NULL };

static bool betas_check(struct cr_diag *diag, struct cr_pos pos,
                        const struct adam *o, const char *name)
{
    if (o->beta1 == 1 || o->beta2 == 1)
        return cr_error(diag, pos, CR_E_OUT_OF_RANGE,
                        "beta1 and beta2 of %s: expected numbers below 1",
                        name);
    return true;
}

static bool adam_check(struct cr_diag *diag, struct cr_pos pos,
                       const void *opts)
{
    return betas_check(diag, pos, opts, "Adam");
}

static bool lazy_adam_check(struct cr_diag *diag, struct cr_pos pos,
                            const void *opts)
{
    return betas_check(diag, pos, opts, "LazyAdam");
}

static int adam_count(const void *opts)
{
    const struct adam *o = opts;

    return o->use_amsgrad ? 3 : 2;
}

CR_CLONES static void adam_update(const struct cr_update *u)
{
    const struct adam *o = u->opts;
    const double t = (double)u->t;
    const cr_real b1 = (cr_real)o->beta1, c1 = 1 - b1;
    const cr_real b2 = (cr_real)o->beta2, c2 = 1 - b2;
    const cr_real a = (cr_real)(u->lr * sqrt(1 - pow((double)b2, t)) /
                                (1 - pow((double)b1, t)));
    const cr_real eps = (cr_real)o->eps, scale = (cr_real)u->scale;
    const cr_real decay = (cr_real)u->weight_decay;
    cr_real *restrict w = u->w, *restrict m = u->slot[0];
    cr_real *restrict v = u->slot[1], *restrict v_max = u->slot[2];
    const cr_real *restrict gs = u->g;
    const int64_t n = u->n;

    if (o->use_amsgrad || o->use_nesterov) {
        CR_SIMD
        for (int64_t i = 0; i < n; i++) {
            cr_real g = scale * gs[i] + decay * w[i], numerator, size;

            m[i] = b1 * m[i] + c1 * g;
            v[i] = b2 * v[i] + c2 * g * g;
            numerator = o->use_nesterov ? b1 * m[i] + c1 * g : m[i];
            size = v[i];
            if (o->use_amsgrad) {
                size = v_max[i] > size ? v_max[i] : size;
                v_max[i] = size;
            }
            w[i] -= a * numerator / (cr_sqrt(size) + eps);
        }
        return;
    }
    CR_SIMD
    for (int64_t i = 0; i < n; i++) {
        cr_real g = scale * gs[i] + decay * w[i];

        m[i] = b1 * m[i] + c1 * g;
        v[i] = b2 * v[i] + c2 * g * g;
        w[i] -= a * m[i] / (cr_sqrt(v[i]) + eps);
    }
}

static const struct cr_optim_number adam_numbers[] = {
    { "beta1_power", offsetof(struct adam, beta1), true, 0 },
    { "beta2_power", offsetof(struct adam, beta2), true, 0 },
    { 0 },
};

const struct cr_optim cr_optim_adam = {
    .about = {
        .name = "Adam",
        .summary = "Adam: adaptive moment estimation.",
        .detail = "m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2; "
                  "w -= lr sqrt(1 - beta2^t) / (1 - beta1^t) m / (sqrt(v) + "
                  "eps). weight_decay w is added to the gradient (L2); "
                  "AdamWeightDecay and AdamW decouple it.",
        .example = "optimizer: {Adam: {learning_rate: 1e-3}}\n",
        .opts = adam_opts,
        .size = sizeof(struct adam),
    },
    .slots = 3,
    .slot_names = { "moment1", "moment2", "vhat" },
    .numbers = adam_numbers,
    .update = adam_update,
    .check = adam_check,
    .checked = adam_checked,
    .count = adam_count,
};

static const struct cr_optim_number lazy_numbers[] = {
    { "beta1_power", offsetof(struct adam, beta1), true, 1 },
    { "beta2_power", offsetof(struct adam, beta2), true, 1 },
    { 0 },
};

const struct cr_optim cr_optim_lazy_adam = {
    .about = {
        .name = "LazyAdam",
        .summary = "Adam that updates only the rows of a table that have a "
                   "gradient.",
        .detail = "As Adam, but of the table of an EmbeddingLookup with "
                  "sparse: true, rows whose gradient is 0 stay as they are, "
                  "with their moments, as with PyTorch's SparseAdam. If a "
                  "batch has fewer indices than the table has rows, the time "
                  "of an update and the memory of the gradient grow with the "
                  "batch instead of the table. Other parameters, also the "
                  "table of an Embedding, are updated as by Adam, as in "
                  "MindSpore. MindSpore's CPU kernel does not add up the "
                  "gradients of an index that occurs several times in a batch "
                  "before it updates the row; here they are added up.",
        .example = "optimizer: {LazyAdam: {learning_rate: 1e-3}}\n",
        .opts = adam_opts,
        .size = sizeof(struct adam),
    },
    .slots = 3,
    .slot_names = { "moment1", "moment2", "vhat" },
    .numbers = lazy_numbers,
    .update = adam_update,
    .check = lazy_adam_check,
    .checked = adam_checked,
    .count = adam_count,
    .rows = true,
};

/*
 * LARS: layer-wise adaptive rate scaling around another optimizer (You, Gitman,
 * Ginsburg, 2017).
 *
 *   c = coefficient |w| / (|g| + weight_decay |w| + epsilon)
 *   c = min(c / lr, 1)                  with use_clip
 *   g' = c (g + weight_decay w)
 *
 * The wrapped optimizer then runs with g' and without weight decay. Norms are
 * taken over one parameter; if one of them is 0, c is 1. Parameters with
 * LayerNorm or bias in their names keep g and are not decayed. The slots are
 * those of the wrapped optimizer.
 */
#include "train/optim.h"

struct lars {
    struct cr_obj optimizer;
    double epsilon, coefficient;
    bool use_clip;
};

enum { W, G };

static const struct cr_opt lars_opts[] = {
    CR_OBJ(struct lars, optimizer, CR_KIND_OPTIM,
           "The optimizer that updates the parameters."),
    CR_REAL_DEFAULT(struct lars, epsilon, 1e-5, 0, DBL_MAX,
                    "Added to the denominator for numerical stability."),
    CR_REAL_DEFAULT(struct lars, coefficient, 1e-3, 0, DBL_MAX,
                    "Trust coefficient: length of an update relative to its "
                    "parameter."),
    CR_BOOL_DEFAULT(
        struct lars, use_clip, false,
        "Clip the factor divided by the learning rate to 1, so that "
        "gradients are only scaled down."),
    { 0 },
};

static const struct cr_obj *lars_inner(const void *opts)
{
    const struct lars *o = opts;

    return &o->optimizer;
}

static bool lars_check(struct cr_diag *diag, struct cr_pos pos,
                       const void *opts)
{
    const struct lars *o = opts;
    const struct cr_optim *inner =
        (const struct cr_optim *)o->optimizer.about;

    if (inner->reduce || inner->finish)
        return cr_error(diag, pos, CR_E_CONFLICT,
                        "LARS cannot wrap %s, which itself uses norms of "
                        "parameters", inner->about.name);
    return true;
}

static void lars_reduce(const struct cr_update *u, double sum[CR_SUMS_MAX])
{
    double ww = 0, gg = 0;

    for (int64_t i = 0; i < u->n; i++) {
        double g = u->scale * (double)u->g[i];

        ww += (double)u->w[i] * (double)u->w[i];
        gg += g * g;
    }
    sum[W] = ww;
    sum[G] = gg;
}

static void lars_update(const struct cr_update *u)
{
    const struct lars *o = u->opts;
    double w = sqrt(u->sum[W]), g = sqrt(u->sum[G]), c = 1;
    struct cr_update inner = *u;

    if (w > 0 && g > 0)
        c = o->coefficient * w / (g + u->weight_decay * w + o->epsilon);
    if (w > 0 && g > 0 && o->use_clip)
        c = u->lr > 0 ? fmin(c / u->lr, 1) : 1;
    inner.opts = o->optimizer.opts;
    inner.scale = u->excluded ? u->scale : c * u->scale;
    inner.weight_decay = u->excluded ? 0 : c * u->weight_decay;
    ((const struct cr_optim *)o->optimizer.about)->update(&inner);
}

static const char *const lars_apart[] = { "LayerNorm", "bias", NULL };

const struct cr_optim cr_optim_lars = {
    .about = {
        .name = "LARS",
        .summary = "LARS: layer-wise adaptive rate scaling, around another "
                   "optimizer.",
        .detail = "Multiplies g + weight_decay w by coefficient |w| / (|g| + "
                  "weight_decay |w| + epsilon) and passes it to the wrapped "
                  "optimizer. Gradients of parameters with LayerNorm or bias "
                  "in their names pass unchanged. learning_rate, weight_decay "
                  "and group_params are set in the wrapped optimizer.",
        .example = "optimizer: {LARS: {optimizer: {Momentum: {learning_rate: "
                   "0.1, momentum: 0.9}}}}\n",
        .opts = lars_opts,
        .size = sizeof(struct lars),
    },
    .sums = 2,
    .reduce = lars_reduce,
    .update = lars_update,
    .check = lars_check,
    .inner = lars_inner,
    .excluded = lars_apart,
};

/*
 * LARS: gradients in proportion to their parameters, for the optimizer within
 * (semantics.md 5.2; You, Gitman, Ginsburg, 2017).
 *
 *   c = coefficient |w| / (|g| + weight_decay |w| + epsilon)
 *   c = min(c / lr, 1)                  with use_clip
 *   g' = c (g + weight_decay w)
 *
 * and the optimizer within runs with g' and no weight decay. Norms are those
 * of a whole parameter; 1 stands for c where one of them is 0. Parameters
 * whose names hold LayerNorm or bias keep their g and are not decayed.
 * Slots are those of the optimizer within.
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
           "The optimizer that follows the gradients."),
    CR_REAL_OR(struct lars, epsilon, 1e-5, 0, DBL_MAX,
               "Added to the divisor, against division by 0."),
    CR_REAL_OR(struct lars, coefficient, 1e-3, 0, DBL_MAX,
               "How far a step goes, as a part of its parameter."),
    CR_BOOL_OR(struct lars, use_clip, false,
               "Only make gradients shorter."),
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

    if (inner->measure || inner->finish)
        return cr_error(diag, pos, CR_E_CONFLICT,
                        "LARS cannot wrap %s, which looks at whole parameters "
                        "itself", inner->about.name);
    return true;
}

static void lars_measure(const struct cr_update *u, double sum[CR_SUMS_MAX])
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
    struct cr_update part = *u;

    if (w > 0 && g > 0)
        c = o->coefficient * w / (g + u->weight_decay * w + o->epsilon);
    if (w > 0 && g > 0 && o->use_clip)
        c = u->lr > 0 ? fmin(c / u->lr, 1) : 1;
    part.opts = o->optimizer.opts;
    part.scale = u->excluded ? u->scale : c * u->scale;
    part.weight_decay = u->excluded ? 0 : c * u->weight_decay;
    ((const struct cr_optim *)o->optimizer.about)->update(&part);
}

static const char *const lars_apart[] = { "LayerNorm", "bias", NULL };

const struct cr_optim cr_optim_lars = {
    .about = {
        .name = "LARS",
        .summary = "Gradients in proportion to their parameters, for another "
                   "optimizer.",
        .detail = "g is multiplied by coefficient |w| / (|g| + weight_decay "
                  "|w| + epsilon) before the optimizer within has it, but for "
                  "names with LayerNorm or bias. Rate, weight decay and "
                  "group_params are those within.",
        .example = "optimizer: {LARS: {optimizer: {Momentum: {learning_rate: "
                   "0.1, momentum: 0.9}}}}\n",
        .opts = lars_opts,
        .size = sizeof(struct lars),
    },
    .sums = 2,
    .measure = lars_measure,
    .update = lars_update,
    .check = lars_check,
    .inner = lars_inner,
    .excluded = lars_apart,
};

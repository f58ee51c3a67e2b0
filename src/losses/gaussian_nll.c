/* GaussianNLLLoss, with v = max(var, eps): l = (ln v + (x - y)^2 / v) / 2, plus
 * ln(2 pi) / 2 with full */
#include "build/loss.h"

struct gaussian {
    bool full;
    double eps;
    int reduction;
};

static const struct cr_opt gaussian_opts[] = {
    CR_BOOL_DEFAULT(struct gaussian, full, false,
                    "Add the constant ln(2 pi) / 2."),
    CR_REAL_POS_DEFAULT(struct gaussian, eps, 1e-6, 1e30,
                        "Minimum of the variance, for numerical stability."),
    CR_LOSS_REDUCTION(struct gaussian, CR_MEAN),
    { 0 },
};

static struct cr_val *gaussian_nll_build(struct cr_build *b,
                                         struct cr_val *const *in)
{
    const struct gaussian *o = cr_opts(b);
    struct cr_val *var, *d, *v;

    if (!cr_loss_broadcast(b, in[0], in[1]) ||
        !cr_loss_broadcast(b, in[2], in[1]))
        return NULL;
    var = CR_EMIT(b, "maximum", NULL, in[2], cr_loss_number(b, o->eps));
    d = CR_EMIT(b, "sub", NULL, in[0], in[1]);
    v = CR_EMIT(b, "add", NULL, CR_EMIT(b, "log", NULL, var),
                CR_EMIT(b, "div", NULL, CR_EMIT(b, "square", NULL, d), var));
    v = CR_EMIT(b, "mul", NULL, v, cr_loss_number(b, 0.5));
    if (o->full) /* ln(2 pi) / 2 */
        v = CR_EMIT(b, "add", NULL, v, cr_loss_number(b, 0.9189385332046727));
    return cr_loss_reduce(b, v, o->reduction);
}

const struct cr_cell cr_loss_gaussian_nll = {
    .about = {
        .name = "GaussianNLLLoss",
        .summary = "Gaussian negative log-likelihood.",
        .detail = "The network returns means and variances. Shapes broadcast, "
                  "except (n, 1) with (n), which is an error.",
        .example = "network:\n"
                   "  inputs: {x: {shape: [6]}}\n"
                   "  cells:\n"
                   "    mean: {Dense: [6, 2]}\n"
                   "    log_var: {Dense: [6, 2]}\n"
                   "  construct: return mean(x), exp(log_var(x))\n"
                   "loss: {GaussianNLLLoss: {full: true}}\n",
        .opts = gaussian_opts,
        .size = sizeof(struct gaussian),
    },
    .min_inputs = 3,
    .max_inputs = 3,
    .inputs = (const char *const[]){ "logits", "labels", "var", NULL },
    .targets = (const char *const[]){ "label", NULL },
    .target = CR_TARGET_OUTPUT,
    .columns = 1u << 1,
    .build = gaussian_nll_build,
};

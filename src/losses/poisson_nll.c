/* PoissonNLLLoss: l = e^x - y x with log_input, else x - y ln(x + eps); with
 * full, Stirling's y ln y - y + ln(2 pi y) / 2 is added where y > 1 */
#include "build/loss.h"

struct poisson {
    bool log_input, full;
    double eps;
    int reduction;
};

static const struct cr_opt poisson_opts[] = {
    CR_BOOL_DEFAULT(struct poisson, log_input, true,
                    "The output is the logarithm of the rate."),
    CR_BOOL_DEFAULT(struct poisson, full, false,
                    "Add Stirling's approximation of ln(label!)."),
    CR_REAL_POS_DEFAULT(struct poisson, eps, 1e-8, 1e30,
                        "Added to the rate before its logarithm, for numerical "
                        "stability."),
    CR_LOSS_REDUCTION(struct poisson, CR_MEAN),
    { 0 },
};

CR_INLINE cr_real poisson_value(const void *attr, cr_real x, cr_real y)
{
    const struct poisson *o = attr;
    cr_real l =
        o->log_input ? cr_exp(x) - y * x : x - y * cr_log(x + (cr_real)o->eps);

    if (o->full && y > 1)
        l += y * cr_log(y) - y + cr_log(y * (cr_real)6.283185307179586) / 2;
    return l;
}

CR_INLINE cr_real poisson_dx(const void *attr, cr_real x, cr_real y)
{
    const struct poisson *o = attr;

    return o->log_input ? cr_exp(x) - y : 1 - y / (x + (cr_real)o->eps);
}

CR_INLINE cr_real poisson_dy(const void *attr, cr_real x, cr_real y)
{
    const struct poisson *o = attr;
    cr_real d = o->log_input ? -x : -cr_log(x + (cr_real)o->eps);

    return o->full && y > 1 ? d + cr_log(y) + 1 / (2 * y) : d;
}

CR_LOOP2(poisson_real, cr_real, cr_real, poisson_value(attr, a, b))
CR_GRAD2(poisson_grad, g *poisson_dx(attr, a, b), g *poisson_dy(attr, a, b))
CR_LOSS_OP(poisson, 2, 10);

static struct cr_val *poisson_nll_build(struct cr_build *b,
                                        struct cr_val *const *in)
{
    const struct poisson *o = cr_opts(b);

    if (!cr_loss_broadcast(b, in[0], in[1]))
        return NULL;
    return cr_loss_reduce(b, CR_EMIT_OP(b, &poisson_op, o, in[0], in[1]),
                          o->reduction);
}

const struct cr_cell cr_loss_poisson_nll = {
    .about = {
        .name = "PoissonNLLLoss",
        .summary = "Poisson negative log-likelihood, for counts.",
        .detail = "The output is a rate or its logarithm, the label a count. "
                  "Shapes broadcast, except (n, 1) with (n), which is an "
                  "error.",
        .example = "loss: {PoissonNLLLoss: {full: true}}\n",
        .opts = poisson_opts,
        .size = sizeof(struct poisson),
    },
    .min_inputs = 2,
    .max_inputs = 2,
    .targets = (const char *const[]){ "label", NULL },
    .target = CR_TARGET_OUTPUT,
    .build = poisson_nll_build,
};

/* SoftMarginLoss: l = ln(1 + e^(-y x));  dl/dx = -y / (1 + e^(y x)) */
#include "build/loss.h"

struct soft_margin {
    int reduction;
};

static const struct cr_opt soft_margin_opts[] = {
    CR_LOSS_REDUCTION(struct soft_margin, CR_MEAN),
    { 0 },
};

CR_INLINE cr_real soft_value(cr_real z)
{
    return (z > 0 ? z : 0) + cr_log1p(cr_exp(-cr_abs(z)));
}

CR_INLINE cr_real soft_dx(cr_real z)
{
    return 1 / (1 + cr_exp(-z));
}

CR_LOOP2(soft_margin_real, cr_real, cr_real, soft_value(-a *b))
CR_GRAD2(soft_margin_grad, -g *b *soft_dx(-a *b), -g *a *soft_dx(-a *b))
CR_LOSS_OP(soft_margin, 2, 10);

static struct cr_val *soft_margin_build(struct cr_build *b,
                                        struct cr_val *const *in)
{
    const struct soft_margin *o = cr_opts(b);

    if (!cr_loss_same(b, in))
        return NULL;
    return cr_loss_reduce(b, CR_EMIT_OP(b, &soft_margin_op, NULL, in[0], in[1]),
                          o->reduction);
}

const struct cr_cell cr_loss_soft_margin = {
    .about = {
        .name = "SoftMarginLoss",
        .summary = "Soft margin loss: logistic loss of the labels 1 and -1.",
        .detail = "Output and label have the same shape. The loss is ln(1 + "
                  "exp(-label output)).",
        .example = "loss: {SoftMarginLoss: {reduction: sum}}\n",
        .opts = soft_margin_opts,
        .size = sizeof(struct soft_margin),
    },
    .min_inputs = 2,
    .max_inputs = 2,
    .targets = (const char *const[]){ "label", NULL },
    .target = CR_TARGET_OUTPUT,
    .build = soft_margin_build,
};

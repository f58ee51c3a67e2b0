/* MultiLabelSoftMarginLoss: l = the mean over the last axis of
 * w (y ln(1 + e^-x) + (1 - y) ln(1 + e^x)), which is x - x y + ln(1 + e^-x) */
#include "build/loss.h"

struct soft {
    struct cr_reals weight;
    int reduction;
};

static const struct cr_opt soft_opts[] = {
    CR_REALS_OPTIONAL(struct soft, weight, -1e30, 1e30,
                      "Weights of the classes."),
    CR_LOSS_REDUCTION(struct soft, CR_MEAN),
    { 0 },
};

CR_INLINE cr_real softplus(cr_real x)
{
    return (x < 0 ? -x : 0) + cr_log1p(cr_exp(-cr_abs(x)));
}

CR_LOOP2(soft_real, cr_real, cr_real, (1 - b) * a + softplus(a))
CR_GRAD2(soft_grad, g *(1 / (1 + cr_exp(-a)) - b), -g *a)
CR_LOSS_OP(soft, 2, 10);

static struct cr_val *multi_label_soft_margin_build(struct cr_build *b,
                                                    struct cr_val *const *in)
{
    const struct soft *o = cr_opts(b);
    struct cr_val *v;

    if (!cr_loss_same(b, in))
        return NULL;
    v = cr_loss_weigh(b, CR_EMIT_OP(b, &soft_op, NULL, in[0], in[1]),
                      &o->weight, -1);
    return cr_loss_reduce(b, cr_loss_over(b, "mean", v, -1, false),
                          o->reduction);
}

const struct cr_cell cr_loss_multi_label_soft_margin = {
    .about = {
        .name = "MultiLabelSoftMarginLoss",
        .summary = "Multi-label loss: mean binary cross entropy of logits over "
                   "the classes.",
        .detail = "Output and labels are (batch, classes), labels 0 or 1; one "
                  "value per sample before the reduction.",
        .example = "loss: {MultiLabelSoftMarginLoss: {reduction: sum}}\n",
        .opts = soft_opts,
        .size = sizeof(struct soft),
    },
    .min_inputs = 2,
    .max_inputs = 2,
    .targets = (const char *const[]){ "label", NULL },
    .target = CR_TARGET_OUTPUT,
    .expects = "logits",
    .build = multi_label_soft_margin_build,
};

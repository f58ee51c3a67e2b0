/* KLDivLoss: l = y (ln y - x), and 0 where y <= 0; x are log-probabilities.
 * dl/dx = -y */
#include "build/loss.h"

enum {
    KL_BATCHMEAN = CR_NONE + 1
};

struct kl_div {
    int reduction;
};

static const struct cr_opt kl_div_opts[] = {
    CR_ENUM_DEFAULT(struct kl_div, reduction, CR_MEAN,
                    "mean|sum|none|batchmean",
                    "Reduction over the elements."),
    { 0 },
};

CR_LOOP2(kl_div_real, cr_real, cr_real, b > 0 ? b * (cr_log(b) - a) : 0)
CR_GRAD2(kl_div_grad, b > 0 ? -g * b : 0, b > 0 ? g * (cr_log(b) + 1 - a) : 0)
CR_LOSS_OP(kl_div, 2, 5);

static struct cr_val *kl_div_build(struct cr_build *b, struct cr_val *const *in)
{
    const struct kl_div *o = cr_opts(b);
    struct cr_val *v;

    if (!cr_loss_same(b, in))
        return NULL;
    v = CR_EMIT_OP(b, &kl_div_op, NULL, in[0], in[1]);
    if (o->reduction != KL_BATCHMEAN)
        return cr_loss_reduce(b, v, o->reduction);
    return CR_EMIT(b, "div", NULL, cr_loss_all(b, "sum", v),
                   cr_loss_number(b, (double)cr_val_spec(in[0])->dim[0]));
}

const struct cr_cell cr_loss_kl_div = {
    .about = {
        .name = "KLDivLoss",
        .summary = "Kullback-Leibler divergence.",
        .detail = "The output is log-probabilities, the label probabilities of "
                  "the same shape. mean divides by the number of elements, "
                  "batchmean by the number of samples.",
        .example = "loss: {KLDivLoss: {reduction: batchmean}}\n",
        .opts = kl_div_opts,
        .size = sizeof(struct kl_div),
    },
    .min_inputs = 2,
    .max_inputs = 2,
    .targets = (const char *const[]){ "label", NULL },
    .target = CR_TARGET_OUTPUT,
    .build = kl_div_build,
};

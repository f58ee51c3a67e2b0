/* BCEWithLogitsLoss: l = w ((1 - y) x + (1 + (p - 1) y) s), s = ln(1 + e^-x),
 * and p = pos_weight, computed as
 *   x' = max(x, 0) - x y + ln(1 + e^-|x|)   plus   (p - 1) y s.
 * dx'/dx = sigmoid(x) - y */
#include "build/loss.h"

struct bce_logits {
    int reduction;
    struct cr_reals weight, pos_weight;
};

static const struct cr_opt bce_logits_opts[] = {
    CR_LOSS_REDUCTION(struct bce_logits, CR_MEAN),
    CR_REALS_OPTIONAL(struct bce_logits, weight, -1e30, 1e30,
                      "Weights of the features, along the last axis."),
    CR_REALS_OPTIONAL(struct bce_logits, pos_weight, 0, 1e30,
                      "Weights of the label 1, for each feature."),
    { 0 },
};

CR_INLINE cr_real sigmoid(cr_real x)
{
    return 1 / (1 + cr_exp(-x));
}

/* ln(1 + e^-x) */
CR_INLINE cr_real softplus(cr_real x)
{
    return (x < 0 ? -x : 0) + cr_log1p(cr_exp(-cr_abs(x)));
}

CR_LOOP2(bce_logits_real, cr_real, cr_real, (1 - b) * a + softplus(a))
CR_GRAD2(bce_logits_grad, g *(sigmoid(a) - b), -g *a)
CR_LOSS_OP(bce_logits, 2, 10);

CR_LOOP2(positive_real, cr_real, cr_real, b *softplus(a))
CR_GRAD2(positive_grad, g *b *(sigmoid(a) - 1), g *softplus(a))
CR_LOSS_OP(positive, 2, 10);

static struct cr_reals less_one(struct cr_build *b, struct cr_reals w)
{
    double *v = CR_NEWS(cr_build_arena(b), double, w.n);
    int i;

    for (i = 0; i < w.n; i++)
        v[i] = w.v[i] - 1;
    return (struct cr_reals){ .n = w.n, .v = v };
}

static struct cr_val *bce_with_logits_build(struct cr_build *b,
                                            struct cr_val *const *in)
{
    const struct bce_logits *o = cr_opts(b);
    struct cr_reals more = less_one(b, o->pos_weight);
    struct cr_val *v;

    if (!cr_loss_same(b, in))
        return NULL;
    v = CR_EMIT_OP(b, &bce_logits_op, NULL, in[0], in[1]);
    if (more.n > 0)
        v = CR_EMIT(
            b, "add", NULL, v,
            cr_loss_weigh(b, CR_EMIT_OP(b, &positive_op, NULL, in[0], in[1]),
                          &more, -1));
    return cr_loss_reduce(b, cr_loss_weigh(b, v, &o->weight, -1), o->reduction);
}

const struct cr_cell cr_loss_bce_with_logits = {
    .about = {
        .name = "BCEWithLogitsLoss",
        .summary = "Binary cross entropy of logits.",
        .detail = "Logits and labels have the same shape, labels from 0 to 1. "
                  "The loss contains the sigmoid: the network must not end "
                  "with one.",
        .example = "loss: {BCEWithLogitsLoss: {pos_weight: [3.0]}}\n",
        .opts = bce_logits_opts,
        .size = sizeof(struct bce_logits),
    },
    .min_inputs = 2,
    .max_inputs = 2,
    .targets = (const char *const[]){ "label", NULL },
    .target = CR_TARGET_OUTPUT,
    .expects = "logits",
    .build = bce_with_logits_build,
};

/* BCELoss: l = -w (y ln(x + e) + (1 - y) ln(1 - x + e)), e = 1e-12
 * dl/dx = w (x - y) / max(x (1 - x), e), as in MindSpore's CPU kernel */
#include "build/loss.h"

#define BCE_EPS ((cr_real)1e-12)

struct bce {
    struct cr_reals weight;
    int reduction;
};

static const struct cr_opt bce_opts[] = {
    CR_REALS_OPTIONAL(struct bce, weight, -1e30, 1e30,
                      "Weights of the features, along the last axis."),
    CR_LOSS_REDUCTION(struct bce, CR_MEAN),
    { 0 },
};

CR_INLINE cr_real bce_dx(cr_real x, cr_real y)
{
    cr_real v = x * (1 - x);

    return (x - y) / (v > BCE_EPS ? v : BCE_EPS);
}

CR_LOOP2(bce_real, cr_real, cr_real,
         -(b *cr_log(a + BCE_EPS) + (1 - b) * cr_log(1 - a + BCE_EPS)))
CR_GRAD2(bce_grad, g *bce_dx(a, b),
         g *(cr_log(1 - a + BCE_EPS) - cr_log(a + BCE_EPS)))
CR_LOSS_OP(bce, 2, 10);

static struct cr_val *bce_build(struct cr_build *b, struct cr_val *const *in)
{
    const struct bce *o = cr_opts(b);
    struct cr_val *v;

    if (!cr_loss_same(b, in))
        return NULL;
    v = CR_EMIT_OP(b, &bce_op, NULL, in[0], in[1]);
    return cr_loss_reduce(b, cr_loss_weigh(b, v, &o->weight, -1), o->reduction);
}

const struct cr_cell cr_loss_bce = {
    .about = {
        .name = "BCELoss",
        .summary = "Binary cross entropy of probabilities.",
        .detail = "Output and label have the same shape, with numbers from 0 "
                  "to 1; the label may be a probability too.",
        .example = "network: [{Dense: [6, 2]}, Sigmoid]\n"
                   "loss: {BCELoss: {weight: [1.0, 2.0]}}\n",
        .opts = bce_opts,
        .size = sizeof(struct bce),
    },
    .min_inputs = 2,
    .max_inputs = 2,
    .targets = (const char *const[]){ "label", NULL },
    .target = CR_TARGET_OUTPUT,
    .build = bce_build,
};

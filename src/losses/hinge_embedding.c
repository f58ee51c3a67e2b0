/* HingeEmbeddingLoss: l = x where y = 1, max(0, margin - x) where y = -1, and 0
 * for other y */
#include "build/loss.h"

struct hinge {
    double margin;
    int reduction;
};

static const struct cr_opt hinge_opts[] = {
    CR_REAL_DEFAULT(struct hinge, margin, 1, -1e30, 1e30,
                    "Distance from which on the label -1 has the loss 0."),
    CR_LOSS_REDUCTION(struct hinge, CR_MEAN),
    { 0 },
};

CR_INLINE cr_real hinge_violation(const void *attr, cr_real x)
{
    cr_real violation = (cr_real)((const struct hinge *)attr)->margin - x;

    return violation > 0 ? violation : 0;
}

CR_LOOP2(hinge_real, cr_real, cr_real,
         b == 1    ? a
         : b == -1 ? hinge_violation(attr, a)
                   : 0)
CR_GRAD2(hinge_grad,
         b == 1                               ? g
         : b == -1 && hinge_violation(attr, a) > 0 ? -g
                                              : 0,
         0 * g)
CR_LOSS_OP(hinge, 2, 1);

static struct cr_val *hinge_embedding_build(struct cr_build *b,
                                            struct cr_val *const *in)
{
    const struct hinge *o = cr_opts(b);
    struct cr_val *v;

    if (!cr_loss_broadcast(b, in[0], in[1]))
        return NULL;
    v = CR_EMIT_OP(b, &hinge_op, o, in[0], in[1]);
    if (o->reduction == CR_SUM) /* float32 in level auto, as in MindSpore */
        return cr_loss_all(b, "sum", v);
    return cr_loss_reduce(b, v, o->reduction);
}

const struct cr_cell cr_loss_hinge_embedding = {
    .about = {
        .name = "HingeEmbeddingLoss",
        .summary = "Hinge embedding loss: distances should be small or above a "
                   "margin.",
        .detail = "The output is a distance, the label 1 (small) or -1 (above "
                  "margin). Shapes broadcast, except (n, 1) with (n), which is "
                  "an error.",
        .example = "loss: {HingeEmbeddingLoss: {margin: 0.5}}\n",
        .opts = hinge_opts,
        .size = sizeof(struct hinge),
    },
    .min_inputs = 2,
    .max_inputs = 2,
    .targets = (const char *const[]){ "label", NULL },
    .target = CR_TARGET_OUTPUT,
    .build = hinge_embedding_build,
};

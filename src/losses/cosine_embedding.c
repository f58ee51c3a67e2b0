/* CosineEmbeddingLoss, with c = x1 x2 / (|x1| |x2|) along axis 1: l = 1 - c
 * where y = 1, max(0, c - margin) where y = -1, and 0 for other y */
#include "build/loss.h"
#include "graph/amp.h"

struct cosine {
    double margin;
    int reduction;
};

static const struct cr_opt cosine_opts[] = {
    CR_REAL_DEFAULT(struct cosine, margin, 0, -1, 1,
                    "Cosine up to which pairs of the label -1 have the loss "
                    "0."),
    CR_LOSS_REDUCTION(struct cosine, CR_MEAN),
    { 0 },
};

static struct cr_val *dot(struct cr_build *b, struct cr_val *x,
                          struct cr_val *y)
{
    return cr_loss_over(b, "sum", CR_EMIT(b, "mul", NULL, x, y), 1, false);
}

static struct cr_val *norm(struct cr_build *b, struct cr_val *x)
{
    return CR_EMIT(b, "sqrt", NULL, dot(b, x, x));
}

static struct cr_val *cosine_embedding_build(struct cr_build *b,
                                             struct cr_val *const *in)
{
    const struct cosine *o = cr_opts(b);
    struct cr_val *zero = cr_loss_number(b, 0), *one = cr_loss_number(b, 1);
    struct cr_val *c, *alike, *apart;

    if (!cr_loss_same(b, in))
        return NULL;
    cr_precision_follow(b, in[0]);
    c = CR_EMIT(b, "div", NULL, dot(b, in[0], in[1]),
                CR_EMIT(b, "mul", NULL, norm(b, in[0]), norm(b, in[1])));
    alike = CR_EMIT(b, "sub", NULL, one, c);
    apart = CR_EMIT(b, "relu", NULL,
                    CR_EMIT(b, "sub", NULL, c, cr_loss_number(b, o->margin)));
    apart = CR_EMIT(b, "where", NULL,
                    CR_EMIT(b, "equal", NULL, in[2], cr_loss_number(b, -1)),
                    apart, zero);
    alike = CR_EMIT(b, "where", NULL, CR_EMIT(b, "equal", NULL, in[2], one),
                    alike, apart);
    return cr_loss_reduce(b, alike, o->reduction);
}

const struct cr_cell cr_loss_cosine_embedding = {
    .about = {
        .name = "CosineEmbeddingLoss",
        .summary = "Cosine embedding loss: pairs of embeddings should be "
                   "similar or dissimilar.",
        .detail = "The network returns two embeddings (batch, features). "
                  "Labels (batch) are 1 for similar and -1 for dissimilar "
                  "pairs. A row of zeros gives NaN, as in MindSpore.",
        .example = "network:\n"
                   "  inputs: {x: {shape: [2, 6]}}\n"
                   "  cells: {embed: {Dense: [6, 4]}}\n"
                   "  construct: |\n"
                   "    y = embed(x)\n"
                   "    return y[:, 0], y[:, 1]\n"
                   "loss: {CosineEmbeddingLoss: {margin: 0.1}}\n",
        .opts = cosine_opts,
        .size = sizeof(struct cosine),
    },
    .min_inputs = 3,
    .max_inputs = 3,
    .inputs = (const char *const[]){ "logits_x1", "logits_x2", "labels", NULL },
    .targets = (const char *const[]){ "label", NULL },
    .target = CR_TARGET_SAMPLE,
    .build = cosine_embedding_build,
};

/* TripletMarginLoss: l = max(0, d(x, p) - d(x, n) + margin), with d(x, y) the
 * p-norm of x - y + eps along axis 1; swap uses d(p, n) where it is smaller
 * than d(x, n) */
#include "build/loss.h"

struct triplet {
    int64_t p;
    bool swap;
    double eps;
    int reduction;
    double margin;
};

static const struct cr_opt triplet_opts[] = {
    CR_INT_DEFAULT(struct triplet, p, 2, 1, 100, "Order of the norm."),
    CR_BOOL_DEFAULT(
        struct triplet, swap, false,
        "Use the distance between positive and negative if it is smaller."),
    CR_REAL_DEFAULT(struct triplet, eps, 1e-6, 0, 1e30,
                    "Added to each difference for numerical stability."),
    CR_LOSS_REDUCTION(struct triplet, CR_MEAN),
    CR_REAL_DEFAULT(struct triplet, margin, 1, -1e30, 1e30,
                    "Required difference of the two distances."),
    { 0 },
};

static struct cr_val *distance(struct cr_build *b, struct cr_val *x,
                               struct cr_val *y)
{
    static const int64_t axis = 1;
    const struct triplet *o = cr_opts(b);
    struct cr_norm *norm = CR_NEW(cr_build_arena(b), struct cr_norm);
    struct cr_val *d = CR_EMIT(b, "sub", NULL, x, y);

    norm->ord = (double)o->p;
    norm->axis.v = &axis;
    norm->axis.n = 1;
    return CR_EMIT(b, "norm", norm,
                   CR_EMIT(b, "add", NULL, d, cr_loss_number(b, o->eps)));
}

static struct cr_val *triplet_margin_build(struct cr_build *b,
                                           struct cr_val *const *in)
{
    const struct triplet *o = cr_opts(b);
    struct cr_val *far = distance(b, in[0], in[2]), *v;

    if (o->swap)
        far = CR_EMIT(b, "minimum", NULL, far, distance(b, in[1], in[2]));
    v = CR_EMIT(b, "sub", NULL, distance(b, in[0], in[1]), far);
    v = CR_EMIT(b, "add", NULL, v, cr_loss_number(b, o->margin));
    return cr_loss_reduce(b, CR_EMIT(b, "relu", NULL, v), o->reduction);
}

const struct cr_cell cr_loss_triplet_margin = {
    .about = {
        .name = "TripletMarginLoss",
        .summary = "Triplet margin loss: the anchor should be closer to the "
                   "positive than to the negative.",
        .detail = "The network returns three embeddings: anchor, positive and "
                  "negative.",
        .example = "network:\n"
                   "  inputs: {x: {shape: [3, 6]}}\n"
                   "  cells: {embed: {Dense: [6, 4]}}\n"
                   "  construct: |\n"
                   "    y = embed(x)\n"
                   "    return y[:, 0], y[:, 1], y[:, 2]\n"
                   "loss: {TripletMarginLoss: {margin: 0.5}}\n",
        .opts = triplet_opts,
        .size = sizeof(struct triplet),
    },
    .min_inputs = 3,
    .max_inputs = 3,
    .inputs = (const char *const[]){ "x", "positive", "negative", NULL },
    .targets = (const char *const[]){ NULL },
    .build = triplet_margin_build,
};

/* MarginRankingLoss: l = max(0, margin - y (x1 - x2)) */
#include "build/loss.h"

struct ranking {
    double margin;
    int reduction;
};

static const struct cr_opt ranking_opts[] = {
    CR_REAL_DEFAULT(struct ranking, margin, 0, -1e30, 1e30,
                    "Required difference of the two outputs."),
    CR_LOSS_REDUCTION(struct ranking, CR_MEAN),
    { 0 },
};

static struct cr_val *margin_ranking_build(struct cr_build *b,
                                           struct cr_val *const *in)
{
    const struct ranking *o = cr_opts(b);
    struct cr_val *v;

    if (!cr_loss_broadcast(b, in[0], in[2]) ||
        !cr_loss_broadcast(b, in[1], in[2]))
        return NULL;
    v = CR_EMIT(b, "mul", NULL, in[2], CR_EMIT(b, "sub", NULL, in[0], in[1]));
    v = CR_EMIT(b, "sub", NULL, cr_loss_number(b, o->margin), v);
    return cr_loss_reduce(b, CR_EMIT(b, "relu", NULL, v), o->reduction);
}

const struct cr_cell cr_loss_margin_ranking = {
    .about = {
        .name = "MarginRankingLoss",
        .summary = "Margin ranking loss: one of two outputs should be larger.",
        .detail = "The network returns two outputs. The label is 1 if the "
                  "first should be larger and -1 if the second should. Shapes "
                  "broadcast, except (n, 1) with (n), which is an error.",
        .example = "network:\n"
                   "  inputs: {x: {shape: [2, 6]}}\n"
                   "  cells: {rank: {Dense: [6, 1]}}\n"
                   "  construct: |\n"
                   "    y = rank(x)\n"
                   "    return y[:, 0, 0], y[:, 1, 0]\n"
                   "loss: {MarginRankingLoss: {margin: 0.1}}\n",
        .opts = ranking_opts,
        .size = sizeof(struct ranking),
    },
    .min_inputs = 3,
    .max_inputs = 3,
    .inputs = (const char *const[]){ "input1", "input2", "target", NULL },
    .targets = (const char *const[]){ "label", NULL },
    .target = CR_TARGET_OUTPUT,
    .build = margin_ranking_build,
};

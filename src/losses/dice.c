/* DiceLoss: l = 1 - 2 sum(x y) / (sum(x^2) + sum(y^2) + smooth), over
 * all elements */
#include "build/loss.h"

struct dice {
    double smooth;
};

static const struct cr_opt dice_opts[] = {
    CR_REAL_POS_DEFAULT(struct dice, smooth, 1e-5, 1e30,
                        "Added to the denominator for numerical stability."),
    { 0 },
};

static struct cr_val *dice_build(struct cr_build *b, struct cr_val *const *in)
{
    const struct dice *o = cr_opts(b);
    struct cr_val *both, *squares;

    if (!cr_loss_same(b, in))
        return NULL;
    both = cr_loss_all(b, "sum", CR_EMIT(b, "mul", NULL, in[0], in[1]));
    squares = CR_EMIT(b, "add", NULL, CR_EMIT(b, "mul", NULL, in[0], in[0]),
                      CR_EMIT(b, "mul", NULL, in[1], in[1]));
    squares = CR_EMIT(b, "add", NULL, cr_loss_all(b, "sum", squares),
                      cr_loss_number(b, o->smooth));
    both = CR_EMIT(b, "mul", NULL, both, cr_loss_number(b, 2));
    return CR_EMIT(b, "sub", NULL, cr_loss_number(b, 1),
                   CR_EMIT(b, "div", NULL, both, squares));
}

const struct cr_cell cr_loss_dice = {
    .about = {
        .name = "DiceLoss",
        .summary = "Dice loss: one minus the overlap of output and label.",
        .detail = "Output and label have the same shape. The loss is 1 - 2 "
                  "sum(x y) / (sum(x^2) + sum(y^2) + smooth), over all "
                  "elements.",
        .example = "loss: {DiceLoss: {smooth: 1.0e-3}}\n",
        .opts = dice_opts,
        .size = sizeof(struct dice),
    },
    .min_inputs = 2,
    .max_inputs = 2,
    .targets = (const char *const[]){ "label", NULL },
    .target = CR_TARGET_OUTPUT,
    .build = dice_build,
};

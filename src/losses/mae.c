/* MAELoss: l = |x - y|;  dl/dx = sign(x - y), 0 where they are equal */
#include "build/loss.h"

struct mae {
    int reduction;
};

static const struct cr_opt mae_opts[] = {
    CR_LOSS_REDUCTION(struct mae, CR_MEAN),
    { 0 },
};

CR_LOOP2(mae_real, cr_real, cr_real, cr_abs(a - b))
CR_GRAD2(mae_grad, a > b ? g : a < b ? -g : 0, a > b ? -g : a < b ? g : 0)
CR_LOSS_OP(mae, 2, 0.5);

static struct cr_val *mae_build(struct cr_build *b, struct cr_val *const *in)
{
    const struct mae *o = cr_opts(b);

    if (!cr_loss_broadcast(b, in[0], in[1]))
        return NULL;
    return cr_loss_reduce(b, CR_EMIT_OP(b, &mae_op, NULL, in[0], in[1]),
                          o->reduction);
}

const struct cr_cell cr_loss_mae = {
    .about = {
        .name = "MAELoss",
        .summary = "Mean absolute error; the same as L1Loss.",
        .detail = "The mean is over all elements. Shapes broadcast, except (n, "
                  "1) with (n), which is an error.",
        .example = "loss: {MAELoss: {reduction: sum}}\n",
        .opts = mae_opts,
        .size = sizeof(struct mae),
    },
    .min_inputs = 2,
    .max_inputs = 2,
    .targets = (const char *const[]){ "label", NULL },
    .target = CR_TARGET_OUTPUT,
    .build = mae_build,
};

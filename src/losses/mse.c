/* MSELoss: l = (x - y)^2 */
#include "build/loss.h"

struct mse {
    int reduction;
};

static const struct cr_opt mse_opts[] = {
    CR_LOSS_REDUCTION(struct mse, CR_MEAN),
    { 0 },
};

static struct cr_val *mse_build(struct cr_build *b, struct cr_val *const *in)
{
    const struct mse *o = cr_opts(b);

    if (!cr_loss_broadcast(b, in[0], in[1]))
        return NULL;
    return cr_loss_reduce(b, cr_loss_squares(b, in[0], in[1]), o->reduction);
}

const struct cr_cell cr_loss_mse = {
    .about = {
        .name = "MSELoss",
        .summary = "Mean squared error.",
        .detail = "The mean is over all elements. Shapes broadcast, except (n, "
                  "1) with (n), which is an error.",
        .example = "loss: {MSELoss: {reduction: sum}}\n",
        .opts = mse_opts,
        .size = sizeof(struct mse),
    },
    .min_inputs = 2,
    .max_inputs = 2,
    .targets = (const char *const[]){ "label", NULL },
    .target = CR_TARGET_OUTPUT,
    .build = mse_build,
};

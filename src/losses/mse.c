/* MSELoss: mean of squared differences. */
#include "build/loss.h"

static struct cr_val *mse_build(struct cr_build *b, struct cr_val *const *in)
{
    if (!cr_loss_broadcast(b, in[0], in[1]))
        return NULL;
    return CR_EMIT(b, "mse", cr_opts(b), in[0], in[1]);
}

const struct cr_cell cr_loss_mse = {
    .about = {
        .name = "MSELoss",
        .summary = "Mean squared error.",
        .detail = "The mean is over all elements. Shapes broadcast, except (n, "
                  "1) with (n), which is an error.",
        .example = "loss: {MSELoss: {reduction: sum}}\n",
        .opts = cr_mse_opts,
        .size = sizeof(struct cr_mse),
    },
    .min_inputs = 2,
    .max_inputs = 2,
    .targets = (const char *const[]){ "label", NULL },
    .target = CR_TARGET_OUTPUT,
    .build = mse_build,
};

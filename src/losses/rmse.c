/* RMSELoss: l = sqrt(the mean of (x - y)^2) */
#include "build/loss.h"

static struct cr_val *rmse_build(struct cr_build *b,
                                 struct cr_val *const *in)
{
    if (!cr_loss_broadcast(b, in[0], in[1]))
        return NULL;
    return CR_EMIT(b, "sqrt", NULL,
                   cr_loss_reduce(b, cr_loss_squares(b, in[0], in[1]),
                                  CR_MEAN));
}

const struct cr_cell cr_loss_rmse = {
    .about = {
        .name = "RMSELoss",
        .summary = "Root mean squared error.",
        .detail = "The mean is over all elements. Shapes broadcast, except (n, "
                  "1) with (n), which is an error. If output and label are "
                  "equal everywhere the gradient is NaN, as in MindSpore.",
        .example = "loss: RMSELoss\n",
    },
    .min_inputs = 2,
    .max_inputs = 2,
    .targets = (const char *const[]){ "label", NULL },
    .target = CR_TARGET_OUTPUT,
    .build = rmse_build,
};

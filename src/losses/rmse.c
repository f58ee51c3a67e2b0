/* RMSELoss: l = sqrt(the mean of (x - y)^2) */
#include "build/loss.h"

static struct cr_val *rmse_build(struct cr_build *b,
                                 struct cr_val *const *in)
{
    struct cr_mse *attr = CR_NEW(cr_build_arena(b), struct cr_mse);

    if (!cr_loss_broadcast(b, in[0], in[1]))
        return NULL;
    attr->reduction = CR_MEAN;
    return CR_EMIT(b, "sqrt", NULL, CR_EMIT(b, "mse", attr, in[0], in[1]));
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

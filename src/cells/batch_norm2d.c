/* BatchNorm2d: each channel normalised over the batch, x (N, C, H, W). */
#include "net/norm_cells.h"

static struct cr_val *batch_norm2d_build(struct cr_build *b,
                                        struct cr_val *const *in)
{
    return cr_bn_build(b, in[0], "", 4, 4);
}

const struct cr_cell cr_cell_batch_norm2d = {
    .about = {
        .name = "BatchNorm2d",
        .summary = "Each channel normalised over the batch.",
        .detail = "Input (N, C, H, W). In training with the mean and the "
                  "(biased) variance of the batch, which then move the "
                  "moving statistics, the variance unbiased; in prediction "
                  "with those. A batch of one value per channel leaves the "
                  "moving variance as it is. Parameters: moving_mean, "
                  "moving_variance, gamma, beta (C).",
        .example = "network: {bn: {BatchNorm2d: 1}, flatten: Flatten, fc: "
                   "{Dense: [784, 10]}}\n",
        .opts = cr_bn2d_opts,
        .size = sizeof(struct cr_bn),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .build = batch_norm2d_build,
};

/* BatchNorm1d: each channel normalised over the batch, x (N, C[, L]). */
#include "net/norm_cells.h"

static struct cr_val *batch_norm1d_build(struct cr_build *b,
                                        struct cr_val *const *in)
{
    return cr_bn_build(b, in[0], "", 2, 3);
}

const struct cr_cell cr_cell_batch_norm1d = {
    .about = {
        .name = "BatchNorm1d",
        .summary = "Each channel normalised over the batch.",
        .detail = "Input (N, C) or (N, C, L). In training with the mean and "
                  "the (biased) variance of the batch, which then move the "
                  "moving statistics, the variance unbiased; in prediction "
                  "with those. A batch of one value per channel leaves the "
                  "moving variance as it is. Parameters: moving_mean, "
                  "moving_variance, gamma, beta (C).",
        .example = "network: [Flatten, {Dense: [784, 10]}, {BatchNorm1d: "
                   "10}]\n",
        .opts = cr_bn_opts,
        .size = sizeof(struct cr_bn),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .features = "num_features",
    .build = batch_norm1d_build,
};

/* BatchNorm1d: batch normalisation of each channel, x (N, C[, L]). */
#include "build/norm_cells.h"

static struct cr_val *batch_norm1d_build(struct cr_build *b,
                                        struct cr_val *const *in)
{
    return cr_bn_build(b, in[0], "", 2, 3);
}

const struct cr_cell cr_cell_batch_norm1d = {
    .about = {
        .name = "BatchNorm1d",
        .summary = "Batch normalisation of each channel, over (N, C) or (N, C, "
                   "L).",
        .detail = "Input (N, C) or (N, C, L). Training normalises with the "
                  "mean and the biased variance of the batch and updates the "
                  "moving statistics, with the unbiased variance; prediction "
                  "uses the moving statistics. A batch with one value per "
                  "channel leaves moving_variance unchanged. Parameters: "
                  "moving_mean, moving_variance, gamma, beta (C).",
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

/* BatchNorm2d: batch normalisation of each channel, x (N, C, H, W). */
#include "build/norm_cells.h"

static struct cr_val *batch_norm2d_build(struct cr_build *b,
                                        struct cr_val *const *in)
{
    return cr_bn_build(b, in[0], "", 4, 4);
}

const struct cr_cell cr_cell_batch_norm2d = {
    .about = {
        .name = "BatchNorm2d",
        .summary = "Batch normalisation of each channel, over (N, C, H, W).",
        .detail = "Input (N, C, H, W). Training normalises with the mean and "
                  "the biased variance of the batch and updates the moving "
                  "statistics, with the unbiased variance; prediction uses the "
                  "moving statistics. A batch with one value per channel "
                  "leaves moving_variance unchanged. Parameters: moving_mean, "
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

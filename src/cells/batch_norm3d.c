/* BatchNorm3d: batch normalisation of each channel, x (N, C, D, H, W). */
#include "build/norm_cells.h"

static struct cr_val *batch_norm3d_build(struct cr_build *b,
                                        struct cr_val *const *in)
{
    return cr_bn_build(b, in[0], "bn2d.", 5, 5);
}

const struct cr_cell cr_cell_batch_norm3d = {
    .about = {
        .name = "BatchNorm3d",
        .summary = "Batch normalisation of each channel, over (N, C, D, H, W).",
        .detail = "Input (N, C, D, H, W). Training normalises with the mean "
                  "and the biased variance of the batch and updates the moving "
                  "statistics, with the unbiased variance; prediction uses the "
                  "moving statistics. A batch with one value per channel "
                  "leaves moving_variance unchanged. Parameters: "
                  "bn2d.moving_mean, bn2d.moving_variance, bn2d.gamma, "
                  "bn2d.beta (C).",
        .example = "network: {norm: {BatchNorm3d: {num_features: 2}}, "
                   "flatten: Flatten, fc: {Dense: {out_channels: 10}}}\n",
        .opts = cr_bn_opts,
        .size = sizeof(struct cr_bn),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .build = batch_norm3d_build,
};

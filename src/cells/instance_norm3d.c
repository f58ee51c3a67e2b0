/* InstanceNorm3d: normalisation of each channel of each sample, x (N, C, D, H,
 * W). */
#include "build/norm_cells.h"

static struct cr_val *instance_norm3d_build(struct cr_build *b,
                                            struct cr_val *const *in)
{
    return cr_instance_norm_build(b, in[0], 5);
}

const struct cr_cell cr_cell_instance_norm3d = {
    .about = {
        .name = "InstanceNorm3d",
        .summary = "Instance normalisation of each channel of each sample, "
                   "over (N, C, D, H, W).",
        .detail = "Input (N, C, D, H, W). y = (x - mean) / sqrt(variance + "
                  "eps) gamma + beta, with the mean and biased variance of "
                  "each channel of each sample, in training and prediction. "
                  "Parameters: gamma, beta (C), and moving_mean, "
                  "moving_variance (C), which MindSpore has too but which are "
                  "neither updated nor used.",
        .example = "network: {norm: {InstanceNorm3d: {num_features: 2}}, "
                   "flatten: Flatten, fc: {Dense: {out_channels: 10}}}\n",
        .opts = cr_instance_norm_opts,
        .size = sizeof(struct cr_instance_norm),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .build = instance_norm3d_build,
};

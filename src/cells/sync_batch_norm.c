/* SyncBatchNorm: batch normalisation over the samples of all processes,
 * x (N, C) or (N, C, H, W). */
#include "build/norm_cells.h"

static struct cr_val *sync_batch_norm_build(struct cr_build *b,
                                            struct cr_val *const *in)
{
    return cr_sync_bn_build(b, in[0]);
}

const struct cr_cell cr_cell_sync_batch_norm = {
    .about = {
        .name = "SyncBatchNorm",
        .summary = "Batch normalisation of each channel, over the samples of "
                   "all processes.",
        .detail = "Input (N, C) or (N, C, H, W). As BatchNorm1d and "
                  "BatchNorm2d; under mpirun it uses the statistics of the "
                  "whole batch even with train.batch_norm: local. MindSpore's "
                  "process_groups does not exist. Parameters: moving_mean, "
                  "moving_variance, gamma, beta (C).",
        .example = "network: {bn: {SyncBatchNorm: 1}, flatten: Flatten, fc: "
                   "{Dense: [784, 10]}}\n",
        .opts = cr_sync_bn_opts,
        .size = sizeof(struct cr_bn),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .build = sync_batch_norm_build,
};

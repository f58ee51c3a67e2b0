/* MaxPool3d: max pooling, x (N, C, D, H, W). */
#include "families/pool.h"

static struct cr_val *max_pool3d_build(struct cr_build *b,
                                       struct cr_val *const *in)
{
    return cr_max_pool_build(b, in[0], 3);
}

const struct cr_cell cr_cell_max_pool3d = {
    .about = {
        .name = "MaxPool3d",
        .summary = "3-D max pooling.",
        .detail = "Input (N, C, D, H, W) or one sample (C, D, H, W); output "
                  "the same with one value per window. Of equal elements the "
                  "first is taken; NaN is larger than any number; padding is "
                  "never the maximum.",
        .example = "network: {pool: {MaxPool3d: {kernel_size: 2, stride: "
                   "2}}, flatten: Flatten, fc: {Dense: {out_channels: 10}}}\n",
        .opts = cr_max_pool_opts,
        .size = sizeof(struct cr_pool_opts),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .check = cr_max_pool_check,
    .build = max_pool3d_build,
};

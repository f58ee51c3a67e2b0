/* AvgPool3d: average pooling, x (N, C, D, H, W). */
#include "families/pool.h"

static struct cr_val *avg_pool3d_build(struct cr_build *b,
                                       struct cr_val *const *in)
{
    return cr_avg_pool_build(b, in[0], 3);
}

const struct cr_cell cr_cell_avg_pool3d = {
    .about = {
        .name = "AvgPool3d",
        .summary = "3-D average pooling.",
        .detail = "Input (N, C, D, H, W) or one sample (C, D, H, W); output "
                  "the same with one value per window. Elements outside the "
                  "input count with pad_mode pad and same unless "
                  "count_include_pad is false.",
        .example = "network: {pool: {AvgPool3d: {kernel_size: 2, stride: "
                   "2}}, flatten: Flatten, fc: {Dense: {out_channels: 10}}}\n",
        .opts = cr_avg_pool3d_opts,
        .size = sizeof(struct cr_pool_opts),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .check = cr_avg_pool_check,
    .build = avg_pool3d_build,
};

/* AvgPool2d: average pooling, x (N, C, H, W). */
#include "families/pool.h"

static struct cr_val *avg_pool2d_build(struct cr_build *b,
                                       struct cr_val *const *in)
{
    return cr_avg_pool_build(b, in[0], 2);
}

const struct cr_cell cr_cell_avg_pool2d = {
    .about = {
        .name = "AvgPool2d",
        .summary = "2-D average pooling.",
        .detail = "Input (N, C, H, W) or one sample (C, H, W); output the same "
                  "with one value per window. Elements outside the input never "
                  "count with pad_mode same; with pad_mode pad they count "
                  "unless count_include_pad is false.",
        .example = "network: {pool: {AvgPool2d: {kernel_size: 2, stride: "
                   "2}}, flatten: Flatten, fc: {Dense: {out_channels: 10}}}\n",
        .opts = cr_avg_pool2d_opts,
        .size = sizeof(struct cr_pool_opts),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .check = cr_avg_pool_check,
    .build = avg_pool2d_build,
};

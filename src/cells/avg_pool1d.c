/* AvgPool1d: average pooling, x (N, C, L). */
#include "families/pool.h"

static struct cr_val *avg_pool1d_build(struct cr_build *b,
                                       struct cr_val *const *in)
{
    return cr_avg_pool_build(b, in[0], 1);
}

const struct cr_cell cr_cell_avg_pool1d = {
    .about = {
        .name = "AvgPool1d",
        .summary = "1-D average pooling.",
        .detail = "Input (N, C, L) or one sample (C, L); output the same with "
                  "one value per window. Elements outside the input never "
                  "count with pad_mode same; with pad_mode pad they count "
                  "unless count_include_pad is false.",
        .example = "network: {pool: {AvgPool1d: {kernel_size: 2, stride: "
                   "2}}, flatten: Flatten, fc: {Dense: {out_channels: 10}}}\n",
        .opts = cr_avg_pool1d_opts,
        .size = sizeof(struct cr_pool_opts),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .check = cr_avg_pool_check,
    .build = avg_pool1d_build,
};

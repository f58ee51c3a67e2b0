/* MaxPool1d: max pooling, x (N, C, L). */
#include "families/pool.h"

static struct cr_val *max_pool1d_build(struct cr_build *b,
                                       struct cr_val *const *in)
{
    return cr_max_pool_build(b, in[0], 1);
}

const struct cr_cell cr_cell_max_pool1d = {
    .about = {
        .name = "MaxPool1d",
        .summary = "1-D max pooling.",
        .detail = "Input (N, C, L) or one sample (C, L); output the same with "
                  "one value per window. Of equal elements the first is taken; "
                  "NaN is larger than any number; padding is never the "
                  "maximum.",
        .example = "network: {pool: {MaxPool1d: {kernel_size: 2, stride: "
                   "2}}, flatten: Flatten, fc: {Dense: {out_channels: 10}}}\n",
        .opts = cr_max_pool_opts,
        .size = sizeof(struct cr_pool_opts),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .check = cr_max_pool_check,
    .build = max_pool1d_build,
};

/* MaxPool2d: the largest of each window, x (N, C, H, W). */
#include "net/pool.h"

static struct cr_val *max_pool2d_build(struct cr_build *b,
                                       struct cr_val *const *in)
{
    return cr_max_pool_build(b, in[0], 2);
}

const struct cr_cell cr_cell_max_pool2d = {
    .about = {
        .name = "MaxPool2d",
        .summary = "The largest of each window.",
        .detail = "Input (N, C, H, W), or one sample without N; output the "
                  "same with a number for each window. Of equals the first "
                  "is taken, NaN wins; padding is never the largest.",
        .example = "network: {pool: {MaxPool2d: {kernel_size: 2, stride: "
                   "2}}, flatten: Flatten, fc: {Dense: {out_channels: 10}}}\n",
        .opts = cr_max_pool2d_opts,
        .size = sizeof(struct cr_pool_opts),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .check = cr_max_pool_check,
    .build = max_pool2d_build,
};

/* AdaptiveAvgPool3d: average pooling to a given output size, x (N, C, D, H, W).
 */
#include "families/pool.h"

static const struct cr_opt adaptive_avg_pool3d_opts[] = {
    CR_INTS(struct cr_adaptive_opts, output_size, 1, CR_DIM_MAX,
            "Output size: a number or [depth, height, width]; null keeps the "
            "size of the input.",
            .nullable = true),
    { 0 },
};

static struct cr_val *adaptive_avg_pool3d_build(struct cr_build *b,
                                                struct cr_val *const *in)
{
    return cr_adaptive_build(b, in[0], 3, false);
}

const struct cr_cell cr_cell_adaptive_avg_pool3d = {
    .about = {
        .name = "AdaptiveAvgPool3d",
        .summary = "3-D adaptive average pooling: averages over a given "
                   "number of windows.",
        .detail = "Input (N, C, D, H, W) or one sample (C, D, H, W). Along a "
                  "dimension of size n, window i of o covers floor(i n / o) "
                  "to ceil((i + 1) n / o).",
        .example = "network: {pool: {AdaptiveAvgPool3d: [1, 2, 2]}, flatten: "
                   "Flatten, fc: {Dense: {out_channels: 10}}}\n",
        .opts = adaptive_avg_pool3d_opts,
        .size = sizeof(struct cr_adaptive_opts),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .build = adaptive_avg_pool3d_build,
};

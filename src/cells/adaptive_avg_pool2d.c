/* AdaptiveAvgPool2d: the mean of each of a given number of windows,
 * x (N, C, H, W). */
#include "net/nhwc.h"
#include "net/pool.h"

static const struct cr_opt adaptive_avg_pool2d_opts[] = {
    CR_INTS(struct cr_adaptive_opts, output_size, 1, CR_DIM_MAX,
            "Size that goes out: a number, or [height, width], where null "
            "keeps a size.",
            .nullable = true),
    CR_ENUM_DEFAULT(struct cr_adaptive_opts, data_format, CR_NCHW,
                    CR_DATA_FORMATS,
                    CR_NHWC_DOC " MindSpore has no such argument here.",
                    .keyword_only = true),
    { 0 },
};

static struct cr_val *adaptive_avg_pool2d_build(struct cr_build *b,
                                                struct cr_val *const *in)
{
    return cr_adaptive_build(b, in[0], false);
}

const struct cr_cell cr_cell_adaptive_avg_pool2d = {
    .about = {
        .name = "AdaptiveAvgPool2d",
        .summary = "Mean of each of a given number of windows.",
        .detail = "Input (N, C, H, W), or one sample without N. Window i of "
                  "o along a dimension of size n is floor(i n / o) to "
                  "ceil((i + 1) n / o).",
        .example = "network: {pool: {AdaptiveAvgPool2d: [1, 1]}, flatten: "
                   "Flatten, fc: {Dense: {out_channels: 10}}}\n",
        .opts = adaptive_avg_pool2d_opts,
        .size = sizeof(struct cr_adaptive_opts),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .build = adaptive_avg_pool2d_build,
};

/* AdaptiveMaxPool1d: max pooling to a given output size, x (N, C, L). */
#include "families/pool.h"

struct adaptive_max_pool1d {
    int64_t output_size;
};

static const struct cr_opt adaptive_max_pool1d_opts[] = {
    CR_INT(struct adaptive_max_pool1d, output_size, 1, CR_DIM_MAX,
           "Output length: the number of windows; must divide the input "
           "length."),
    { 0 },
};

static struct cr_val *adaptive_max_pool1d_build(struct cr_build *b,
                                                struct cr_val *const *in)
{
    return cr_adaptive1d_build(b, in[0], true);
}

const struct cr_cell cr_cell_adaptive_max_pool1d = {
    .about = {
        .name = "AdaptiveMaxPool1d",
        .summary = "1-D adaptive max pooling: maxima over a given number of "
                   "windows.",
        .detail = "Input (N, C, L), output (N, C, output_size); L is a "
                  "multiple of it.",
        .example = "network: {pool: {AdaptiveMaxPool1d: 4}, flatten: "
                   "Flatten, fc: {Dense: {out_channels: 10}}}\n",
        .opts = adaptive_max_pool1d_opts,
        .size = sizeof(struct adaptive_max_pool1d),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .build = adaptive_max_pool1d_build,
};

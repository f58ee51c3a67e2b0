/* OneHot: on_value where the position along a new axis equals the index. */
#include "graph/cell.h"
#include "graph/op_attrs.h"

static const struct cr_opt one_hot_opts[] = {
    CR_INT_DEFAULT(struct cr_one_hot, axis, -1, -CR_RANK_MAX, CR_RANK_MAX - 1,
                   "Position of the new axis in the output."),
    CR_INT_DEFAULT(struct cr_one_hot, depth, 1, 1, CR_DIM_MAX,
                   "Length of the new axis."),
    CR_REAL_DEFAULT(struct cr_one_hot, on_value, 1, -DBL_MAX, DBL_MAX,
                    "Value at the index."),
    CR_REAL_DEFAULT(struct cr_one_hot, off_value, 0, -DBL_MAX, DBL_MAX,
                    "Value elsewhere."),
    { 0 },
};

static struct cr_val *one_hot_build(struct cr_build *b,
                                    struct cr_val *const *in)
{
    return CR_EMIT(b, "one_hot", cr_opts(b), in[0]);
}

const struct cr_cell cr_cell_one_hot = {
    .about = {
        .name = "OneHot",
        .summary = "One-hot encoding along a new axis.",
        .detail = "Input int32 of any shape; the output has one more axis. An "
                  "index out of range gives off_value everywhere.",
        .example = "network: {hot: {OneHot: {depth: 10}}, flatten: Flatten, "
                   "fc: {Dense: {out_channels: 10}}}\n",
        .opts = one_hot_opts,
        .size = sizeof(struct cr_one_hot),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .build = one_hot_build,
};

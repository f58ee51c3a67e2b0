/* Flatten: Makes one dimension of several. */
#include "net/cell.h"

struct flatten {
    int64_t start_dim, end_dim;
};

static const struct cr_opt flatten_opts[] = {
    CR_INT_OR(struct flatten, start_dim, 1, -CR_RANK_MAX, CR_RANK_MAX - 1,
              "First dimension to flatten; negative ones count from the end."),
    CR_INT_OR(struct flatten, end_dim, -1, -CR_RANK_MAX, CR_RANK_MAX - 1,
              "Last dimension to flatten."),
    { 0 },
};

static struct cr_val *flatten_build(struct cr_build *b,
                                    struct cr_val *const *in)
{
    return CR_EMIT(b, "flatten", cr_opts(b), in[0]);
}

const struct cr_cell cr_cell_flatten = {
    .about = {
        .name = "Flatten",
        .summary = "Makes one dimension of several.",
        .detail = "Input (batch, ...), output (batch, features) with the "
                  "defaults.",
        .example = "network: [Flatten, {Dense: [784, 10]}]\n",
        .opts = flatten_opts,
        .size = sizeof(struct flatten),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .flat = true,
    .build = flatten_build,
};

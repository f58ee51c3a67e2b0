/* ChannelShuffle: channel i C / g + j of x, j < C / g, becomes channel j g + i.
 * Zhang et al., arXiv:1707.01083. */
#include "families/arrange.h"

struct channel_shuffle {
    int64_t groups;
};

static const struct cr_opt channel_shuffle_opts[] = {
    CR_INT(struct channel_shuffle, groups, 1, CR_DIM_MAX,
           "Number of groups; must divide the number of channels."),
    { 0 },
};

static struct cr_val *channel_shuffle_build(struct cr_build *b,
                                            struct cr_val *const *in)
{
    static const int64_t perm[] = { 0, 2, 1, 3 };
    int64_t g = ((const struct channel_shuffle *)cr_opts(b))->groups;
    const struct cr_spec *x = cr_val_spec(in[0]);
    int64_t dim[4] = { 1, g, 1, 1 };
    int i;

    if (x->rank < 2 || x->dim[1] % g != 0) {
        cr_fail(b, CR_E_SHAPE,
                "input: found %s, expected (N, C, ...) with C a multiple of "
                "groups %lld",
                cr_diag_format(cr_build_arena(b), x), (long long)g);
        return NULL;
    }
    dim[0] = x->dim[0];
    dim[2] = x->dim[1] / g;
    for (i = 2; i < x->rank; i++)
        dim[3] *= x->dim[i];
    return cr_arrange_reshape(
        b, cr_arrange_transpose(b, cr_arrange_reshape(b, in[0], 4, dim), perm),
        x->rank, x->dim);
}

const struct cr_cell cr_cell_channel_shuffle = {
    .about = {
        .name = "ChannelShuffle",
        .summary = "Shuffles channels: takes one of each group in turn.",
        .detail = "Input (N, C, ...); the output has the same shape.",
        .example = "network: {inputs: {x: {shape: [4, 3, 3]}}, mix: "
                   "{ChannelShuffle: 2}}\n",
        .opts = channel_shuffle_opts,
        .size = sizeof(struct channel_shuffle),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .build = channel_shuffle_build,
};

/* ChannelShuffle: channel i C / g + j of x, j < C / g, becomes channel j g + i.
 * Zhang et al., arXiv:1707.01083. */
#include "graph/cell.h"
#include "graph/op_attrs.h"

static struct cr_val *channel_shuffle_build(struct cr_build *b,
                                            struct cr_val *const *in)
{
    return CR_EMIT(b, "channel_shuffle", cr_opts(b), in[0]);
}

const struct cr_cell cr_cell_channel_shuffle = {
    .about = {
        .name = "ChannelShuffle",
        .summary = "Shuffles channels: takes one of each group in turn.",
        .detail = "Input (N, C, ...); the output has the same shape.",
        .example = "network: {inputs: {x: {shape: [4, 3, 3]}}, mix: "
                   "{ChannelShuffle: 2}}\n",
        .opts = cr_channel_shuffle_opts,
        .size = sizeof(struct cr_channel_shuffle),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .build = channel_shuffle_build,
};

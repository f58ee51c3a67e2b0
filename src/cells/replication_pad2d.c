/* ReplicationPad2d: the border repeated, x (N, C, H, W). */
#include "families/pad_cells.h"

static struct cr_val *replication_pad2d_build(struct cr_build *b,
                                              struct cr_val *const *in)
{
    static const struct cr_pad_rules rules = { .dims = 2,
                                               .min_pairs = 2,
                                               .max_pairs = 2,
                                               .min_rank = 3,
                                               .max_rank = 4,
                                               .mode = CR_PAD_REPLICATE };

    return cr_pad_build(b, in[0], &rules);
}

const struct cr_cell cr_cell_replication_pad2d = {
    .about = {
        .name = "ReplicationPad2d",
        .summary = "Padding of the last two dimensions with copies of the "
                   "border.",
        .detail = "Input (N, C, H, W) or (C, H, W). A list has 4 numbers.",
        .example = "network: {pad: {ReplicationPad2d: [1, 1, 2, 0]}, "
                   "flatten: Flatten, fc: {Dense: {out_channels: 10}}}\n",
        .opts = cr_replication_pad_opts,
        .size = sizeof(struct cr_pad_opts),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .build = replication_pad2d_build,
};

/* ReplicationPad1d: the border repeated, x (N, C, L). */
#include "families/pad_cells.h"

static struct cr_val *replication_pad1d_build(struct cr_build *b,
                                              struct cr_val *const *in)
{
    static const struct cr_pad_rules rules = { .dims = 1,
                                               .min_pairs = 1,
                                               .max_pairs = 1,
                                               .min_rank = 2,
                                               .max_rank = 3,
                                               .mode = CR_PAD_REPLICATE };

    return cr_pad_build(b, in[0], &rules);
}

const struct cr_cell cr_cell_replication_pad1d = {
    .about = {
        .name = "ReplicationPad1d",
        .summary = "Padding of the last dimension with copies of the border.",
        .detail = "Input (N, C, L) or (C, L). A list has 2 numbers.",
        .example = "network: {pad: {ReplicationPad1d: [1, 2]}, flatten: "
                   "Flatten, fc: {Dense: {out_channels: 10}}}\n",
        .opts = cr_replication_pad_opts,
        .size = sizeof(struct cr_pad_opts),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .build = replication_pad1d_build,
};

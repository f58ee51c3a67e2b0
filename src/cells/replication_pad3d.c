/* ReplicationPad3d: the border repeated, x (N, C, D, H, W). */
#include "families/pad_cells.h"

static struct cr_val *replication_pad3d_build(struct cr_build *b,
                                              struct cr_val *const *in)
{
    static const struct cr_pad_rules rules = { .dims = 3,
                                               .min_pairs = 3,
                                               .max_pairs = 3,
                                               .min_rank = 4,
                                               .max_rank = 5,
                                               .mode = CR_PAD_REPLICATE };

    return cr_pad_build(b, in[0], &rules);
}

const struct cr_cell cr_cell_replication_pad3d = {
    .about = {
        .name = "ReplicationPad3d",
        .summary = "Padding of the last three dimensions with copies of the "
                   "border.",
        .detail = "Input (N, C, D, H, W) or (C, D, H, W). A list has 6 "
                  "numbers.",
        .example = "network: {pad: {ReplicationPad3d: 1}, flatten: Flatten, "
                   "fc: {Dense: {out_channels: 10}}}\n",
        .opts = cr_replication_pad_opts,
        .size = sizeof(struct cr_pad_opts),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .build = replication_pad3d_build,
};

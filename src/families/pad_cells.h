/*
 * What the cells that pad the last dimensions share: ConstantPad1d to 3d,
 * ZeroPad2d, ReflectionPad1d to 3d and ReplicationPad1d to 3d.
 */
#ifndef CR_FAMILIES_PAD_CELLS_H
#define CR_FAMILIES_PAD_CELLS_H

#include "graph/cell.h"
#include "graph/op_attrs.h"

struct cr_pad_opts {
    struct cr_ints padding; /* one number, or pairs from the last dimension */
    double value;
};

#define CR_PAD_ROW(low, text)                                             \
    CR_INTS(struct cr_pad_opts, padding, low, CR_DIM_MAX,                 \
            "Number of elements before and after: one number, or a list " \
            "with two numbers for each dimension, the last dimension "    \
            "first." text)
#define CR_PAD_CROPS " A negative number removes elements."

/* ReflectionPad1d to 3d, and ReplicationPad1d to 3d. */
extern const struct cr_opt cr_reflection_pad_opts[], cr_replication_pad_opts[];
/* ConstantPad1d to 3d. */
extern const struct cr_opt cr_constant_pad_opts[];

/* How many dimensions a list may pad, and inputs may have. */
struct cr_pad_rules {
    int dims;                 /* that one number pads */
    int min_pairs, max_pairs; /* 0: as many as the input has dimensions */
    int min_rank, max_rank;   /* 0: any */
    enum cr_pad_mode mode;
};
struct cr_val *cr_pad_build(struct cr_build *b, struct cr_val *x,
                            const struct cr_pad_rules *rules);

#endif

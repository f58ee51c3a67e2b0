/*
 * data_format of a cell: NCHW, or NHWC as a layout of its input and output.
 */
#ifndef CR_FAMILIES_NHWC_H
#define CR_FAMILIES_NHWC_H

#include "graph/cell.h"
#include "graph/op.h"

struct cr_opnode;

extern const struct cr_op cr_op_channels_first, cr_op_channels_last;

enum {
    CR_NCHW,
    CR_NHWC
};
#define CR_DATA_FORMATS "NCHW|NHWC"

#define CR_NHWC_DOC                                                          \
    "NHWC: channels are the last dimension of input and output. The values " \
    "are those of NCHW; consecutive cells of this format do not convert in " \
    "between."

/* The cell's input as (N, C, H, W); reports where it has no 4 dimensions. */
struct cr_val *cr_nhwc_in(struct cr_build *b, int format, struct cr_val *x);
/* What the cell gives of (N, C, H, W). */
struct cr_val *cr_nhwc_out(struct cr_build *b, int format, struct cr_val *y);

/* The (N, C, H, W) that a channels_first has after a channels_last; NULL: it
 * has none. */
const struct cr_val *cr_nhwc_source(const struct cr_opnode *node);

#endif

/*
 * data_format NHWC: a layout of what goes in and comes out of a cell.
 *
 * Such a cell computes on (N, C, H, W) as all do, between a channels_first
 * and a channels_last, which move nothing where kernels have their channels
 * last. Between two such cells plans omit both (plan/lower.c).
 */
#include "families/nhwc.h"

#include "graph/graph.h"

struct cr_val *cr_nhwc_in(struct cr_build *b, int format, struct cr_val *x)
{
    if (format == CR_NCHW || !x)
        return x;
    if (x->spec.rank != 4) {
        cr_fail(b, CR_E_SHAPE,
                "input is %s, expected (batch, height, width, channels) with "
                "data_format NHWC",
                cr_diag_format(b->net->arena, &x->spec));
        return NULL;
    }
    if (x->spec.type != CR_REAL)
        x = cr_emit_as_is(b, cr_op_find("cast"), NULL, 1, &x);
    return x ? cr_emit_as_is(b, &cr_op_channels_first, NULL, 1, &x) : NULL;
}

struct cr_val *cr_nhwc_out(struct cr_build *b, int format, struct cr_val *y)
{
    return format == CR_NCHW || !y
               ? y
               : cr_emit_as_is(b, &cr_op_channels_last, NULL, 1, &y);
}

const struct cr_val *cr_nhwc_source(const struct cr_opnode *node)
{
    const struct cr_opnode *by;

    if (node->op != &cr_op_channels_first || node->custom)
        return NULL;
    by = node->in[0]->producer;
    return by && by->op == &cr_op_channels_last && !by->custom ? by->in[0]
                                                               : NULL;
}

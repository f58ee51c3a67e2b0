/*
 * What concat and stack share: inputs of one type, each with a place of its
 * own in the result, and its gradient there.
 */
#ifndef CR_NET_JOIN_H
#define CR_NET_JOIN_H

#include "net/move.h"


struct cr_join {
    int64_t axis;
};

extern const struct cr_opt cr_join_opts[];
extern const char *const cr_join_inputs[]; /* "tensors" */

int64_t cr_join_axis(const void *attr);
/* All of one type, which the result gets. */
bool cr_join_types(struct cr_op_plan *plan);

typedef struct cr_move cr_join_move(const struct cr_op_ctx *ctx, int k);
void cr_join_forward(const struct cr_op_ctx *ctx, cr_join_move *move);
void cr_join_backward(const struct cr_op_ctx *ctx, cr_join_move *move);

#define CR_JOIN(op)                                      \
    static void op##_forward(const struct cr_op_ctx *s)  \
    {                                                    \
        cr_join_forward(s, op##_move);                   \
    }                                                    \
    static void op##_backward(const struct cr_op_ctx *s) \
    {                                                    \
        cr_join_backward(s, op##_move);                  \
    }
#define CR_JOIN_OP(op)                                           \
    .min_inputs = 1, .max_inputs = CR_OP_MAX, .outputs = 1,      \
    .inputs = cr_join_inputs, .int_inputs = CR_X(CR_OP_MAX) - 1, \
    .bprop = "return pieces(dy, axis)", .plan = op##_plan,       \
    .forward = op##_forward, .backward = op##_backward

#endif

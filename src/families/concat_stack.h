/*
 * What concat and stack share: inputs of one type, each with a place of its
 * own in the result, and its gradient there.
 */
#ifndef CR_FAMILIES_CONCAT_STACK_H
#define CR_FAMILIES_CONCAT_STACK_H

#include "families/data_movement.h"

struct cr_concat {
    int64_t axis;
};

extern const struct cr_opt cr_concat_opts[];
extern const char *const cr_concat_inputs[]; /* "tensors" */

int64_t cr_concat_axis(const void *attr);
/* All of one type, which the result gets. */
bool cr_concat_types(struct cr_op_plan *plan);

typedef struct cr_data_move cr_concat_move(const struct cr_op_ctx *ctx, int k);
void cr_concat_forward(const struct cr_op_ctx *ctx, cr_concat_move *move);
void cr_concat_backward(const struct cr_op_ctx *ctx, cr_concat_move *move);

#define CR_CONCAT(op)                                    \
    static void op##_forward(const struct cr_op_ctx *s)  \
    {                                                    \
        cr_concat_forward(s, op##_move);                 \
    }                                                    \
    static void op##_backward(const struct cr_op_ctx *s) \
    {                                                    \
        cr_concat_backward(s, op##_move);                \
    }
#define CR_CONCAT_OP(op)                                           \
    .min_inputs = 1, .max_inputs = CR_OP_MAX, .outputs = 1,        \
    .inputs = cr_concat_inputs, .int_inputs = CR_X(CR_OP_MAX) - 1, \
    .bprop = "return pieces(dy, axis)", .plan = op##_plan,         \
    .forward = op##_forward, .backward = op##_backward

#endif

/*
 * What max and min share: those equal to the result share its gradient.
 */
#ifndef CR_FAMILIES_MINMAX_H
#define CR_FAMILIES_MINMAX_H

#include "families/reduction.h"

bool cr_minmax_plan(struct cr_op_plan *plan);
void cr_minmax_backward(const struct cr_op_ctx *ctx);

#define CR_MINMAX_OP                                                \
    .int_inputs = CR_X(0), .saved_for_backward = CR_X(0) | CR_Y(0), \
    .plan = cr_minmax_plan, .backward = cr_minmax_backward

#endif

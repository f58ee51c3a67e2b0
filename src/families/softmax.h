/*
 * What softmax and log_softmax share: lines along an axis, one by one where
 * their elements lie together, else many side by side.
 */
#ifndef CR_FAMILIES_SOFTMAX_H
#define CR_FAMILIES_SOFTMAX_H

#include "families/axis.h"
#include "graph/op_attrs.h"

bool cr_softmax_plan(struct cr_op_plan *plan);
bool cr_softmax_rows_apart(const void *attr, const struct cr_spec *x, int in,
                           int out);
/* y = exp(x - m) / sum exp(x - m), or its logarithm;  m = max x */
void cr_softmax(const struct cr_op_ctx *ctx, bool logarithm);
/* y = softmax of a line of n numbers; returns the logarithm of the sum of
 * exp(x - m), and m = max x in *top. In vectors. */
double cr_softmax_line(int64_t n, const cr_real *x, cr_real *y, cr_real *top);
/* dx_c = y_c (dy_c - sum_j dy_j y_j), or dy_c - exp(y_c) sum_j dy_j */
void cr_softmax_backward(const struct cr_op_ctx *ctx, bool logarithm);

extern const struct cr_op_kernels cr_softmax_kernels, cr_log_softmax_kernels;

#endif

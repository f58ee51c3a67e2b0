/*
 * Sorting along an axis: sort, topk and top_fraction.
 */
#ifndef CR_FAMILIES_SORT_H
#define CR_FAMILIES_SORT_H

#include "families/axis.h"

/* index[0..n-1], which names n elements x[index * pace], by rising or falling
 * value; equals keep their order, NaN is the largest. room: n more. */
void cr_argsort(const cr_real *x, int64_t pace, int64_t n, bool falling,
                int32_t *index, int32_t *room);

/* Bytes that cr_sort_lines asks cr_thread_scratch for, along an axis of n. */
size_t cr_sort_scratch(int64_t n);
/* The first k of each line in order: values to y[0], indices to y[1]. */
void cr_sort_lines(const struct cr_op_ctx *ctx, int64_t axis, int64_t k,
                   bool falling);
/* dx from dy[0], with the indices in y[1]. */
void cr_sort_backward(const struct cr_op_ctx *ctx, int64_t axis, int64_t k);

#endif

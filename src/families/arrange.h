/*
 * Ops that only move elements, emitted in one call each: for ops that are
 * made of others (.build). As with CR_EMIT, NULL in gives NULL out, and NULL
 * comes after a problem was reported.
 */
#ifndef CR_FAMILIES_ARRANGE_H
#define CR_FAMILIES_ARRANGE_H

#include "graph/cell.h"
#include "graph/op.h"
#include "graph/op_attrs.h"

/* Whether x has the axis, which counts from the end if it is negative. */
bool cr_arrange_axis(struct cr_build *b, const struct cr_val *x, int64_t axis,
                     int *to);
struct cr_val *cr_arrange_reshape(struct cr_build *b, struct cr_val *x, int n,
                                  const int64_t *dim);
struct cr_val *cr_arrange_broadcast(struct cr_build *b, struct cr_val *x,
                                    int n, const int64_t *dim);
/* Axis i of the result is axis perm[i] of x. */
struct cr_val *cr_arrange_transpose(struct cr_build *b, struct cr_val *x,
                                    const int64_t *perm);
/* begin:end:step along one axis. */
struct cr_val *cr_arrange_slice(struct cr_build *b, struct cr_val *x, int axis,
                                int64_t begin, int64_t end, int64_t step);
/* Elements of x along an axis, by a list of indices. */
struct cr_val *cr_arrange_pick(struct cr_build *b, struct cr_val *x, int axis,
                               int64_t n, const int64_t *index);
/* An int32 tensor of known numbers. */
struct cr_val *cr_arrange_ints(struct cr_build *b, int n, const int64_t *dim,
                               const int64_t *values);

#endif

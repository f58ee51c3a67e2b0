/*
 * Ops along one axis: argmax, sort, cumsum, gather ...
 *
 * A line is what one choice of all other indices leaves: element c of line r
 * lies at (r / inner * n + c) * inner + r % inner.
 */
#ifndef CR_NET_AXIS_H
#define CR_NET_AXIS_H

#include "net/op.h"

struct cr_axis {
    int64_t outer, n, inner; /* dimensions before it, its own, those behind */
};

/* A negative axis counts from the end. False, and reported, if x has none. */
bool cr_axis_check(struct cr_op_plan *plan, const struct cr_spec *x,
                   int64_t axis, int *to);
struct cr_axis cr_axis_of(const struct cr_spec *x, int64_t axis);

static inline int64_t cr_axis_line(const struct cr_axis *a, int64_t line)
{
    return line / a->inner * a->n * a->inner + line % a->inner;
}

#endif

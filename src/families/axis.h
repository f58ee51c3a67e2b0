/*
 * Ops along one axis: argmax, sort, cumsum, gather ...
 *
 * A line is what one choice of all other indices leaves: element c of line r
 * lies at (r / inner * n + c) * inner + r % inner.
 */
#ifndef CR_FAMILIES_AXIS_H
#define CR_FAMILIES_AXIS_H

#include "graph/op.h"

struct cr_axis {
    int64_t outer, n, inner; /* dimensions before it, its own, those after */
};

/* The message about an axis that is not one of `rank` axes; rank is x's own, or
 * one more for an op that inserts an axis. The text belongs to the arena. */
const char *cr_axis_error(struct cr_arena *arena, const struct cr_spec *x,
                          int rank, int64_t axis);

/* Sets *to to the axis of x counted from the start; a negative axis counts from
 * the end. Returns false after an error if x does not have the axis.
 * cr_axis_check_new does the same for an axis to insert into x. */
bool cr_axis_check(struct cr_op_plan *plan, const struct cr_spec *x,
                   int64_t axis, int *to);
bool cr_axis_check_new(struct cr_op_plan *plan, const struct cr_spec *x,
                       int64_t axis, int *to);
struct cr_axis cr_axis_of(const struct cr_spec *x, int64_t axis);

static inline int64_t cr_axis_line(const struct cr_axis *a, int64_t line)
{
    return line / a->inner * a->n * a->inner + line % a->inner;
}

#endif

#include "families/axis.h"

const char *cr_axis_error(struct cr_arena *arena, const struct cr_spec *x,
                          int rank, int64_t axis)
{
    const char *input = cr_diag_format(arena, x);

    if (rank == 0)
        return cr_strf(arena, "axis: found %lld, but input %s has no axes",
                       (long long)axis, input);
    return cr_strf(arena, "axis: found %lld, expected %d to %d for input %s",
                   (long long)axis, -rank, rank - 1, input);
}

static bool axis_check(struct cr_op_plan *p, const struct cr_spec *x, int rank,
                       int64_t axis, int *to)
{
    *to = (int)(axis < 0 ? axis + rank : axis);
    return (axis >= -rank && axis < rank) ||
           cr_error(p->diag, p->pos, CR_E_SHAPE, "%s",
                    cr_axis_error(p->arena, x, rank, axis));
}

bool cr_axis_check(struct cr_op_plan *p, const struct cr_spec *x, int64_t axis,
                   int *to)
{
    return axis_check(p, x, x->rank, axis, to);
}

bool cr_axis_check_new(struct cr_op_plan *p, const struct cr_spec *x,
                       int64_t axis, int *to)
{
    return axis_check(p, x, x->rank + 1, axis, to);
}

struct cr_axis cr_axis_of(const struct cr_spec *x, int64_t axis)
{
    struct cr_axis a = { 1, 1, 1 };
    int i, at = (int)(axis < 0 ? axis + x->rank : axis);

    for (i = 0; i < x->rank; i++)
        *(i < at ? &a.outer : i == at ? &a.n : &a.inner) *= x->dim[i];
    return a;
}

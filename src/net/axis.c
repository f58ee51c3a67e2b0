#include "net/axis.h"

bool cr_axis_check(struct cr_op_plan *p, const struct cr_spec *x, int64_t axis,
                   int *to)
{
    *to = (int)(axis < 0 ? axis + x->rank : axis);
    if (*to < 0 || *to >= x->rank)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "input %s has no axis %lld",
                        cr_diag_format(p->arena, x), (long long)axis);
    return true;
}

struct cr_axis cr_axis_of(const struct cr_spec *x, int64_t axis)
{
    struct cr_axis a = { 1, 1, 1 };
    int i, at = (int)(axis < 0 ? axis + x->rank : axis);

    for (i = 0; i < x->rank; i++)
        *(i < at ? &a.outer : i == at ? &a.n : &a.inner) *= x->dim[i];
    return a;
}

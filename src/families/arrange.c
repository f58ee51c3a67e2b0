#include "families/arrange.h"

#include "families/axis.h"

#include <string.h>

static struct cr_ints ints(struct cr_build *b, int64_t n, const int64_t *v)
{
    int64_t *to = CR_NEWS(cr_build_arena(b), int64_t, n + 1);

    if (n > 0)
        memcpy(to, v, (size_t)n * sizeof *to);
    return (struct cr_ints){ (int)n, to };
}

bool cr_arrange_axis(struct cr_build *b, const struct cr_val *x, int64_t axis,
                     int *to)
{
    const struct cr_spec *spec = cr_val_spec(x);

    *to = (int)(axis < 0 ? axis + spec->rank : axis);
    return (axis >= -spec->rank && axis < spec->rank) ||
           cr_fail(b, CR_E_SHAPE, "%s",
                   cr_axis_error(cr_build_arena(b), spec, spec->rank, axis));
}

struct cr_val *cr_arrange_reshape(struct cr_build *b, struct cr_val *x, int n,
                                  const int64_t *dim)
{
    struct cr_reshape *o = CR_NEW(cr_build_arena(b), struct cr_reshape);

    o->shape = ints(b, n, dim);
    return CR_EMIT(b, "reshape", o, x);
}

struct cr_val *cr_arrange_broadcast(struct cr_build *b, struct cr_val *x,
                                    int n, const int64_t *dim)
{
    struct cr_reshape *o = CR_NEW(cr_build_arena(b), struct cr_reshape);

    o->shape = ints(b, n, dim);
    return CR_EMIT(b, "broadcast_to", o, x);
}

struct cr_val *cr_arrange_transpose(struct cr_build *b, struct cr_val *x,
                                    const int64_t *perm)
{
    struct cr_transpose *o = CR_NEW(cr_build_arena(b), struct cr_transpose);
    int i, rank = x ? cr_val_spec(x)->rank : 0;
    bool same = true;

    for (i = 0; i < rank; i++)
        same = same && perm[i] == i;
    if (same)
        return x;
    o->input_perm = ints(b, rank, perm);
    return CR_EMIT(b, "transpose", o, x);
}

struct cr_val *cr_arrange_slice(struct cr_build *b, struct cr_val *x, int axis,
                                int64_t begin, int64_t end, int64_t step)
{
    struct cr_slice *o = CR_NEW(cr_build_arena(b), struct cr_slice);
    int64_t from[CR_RANK_MAX], to[CR_RANK_MAX], by[CR_RANK_MAX];
    int i;

    for (i = 0; i <= axis; i++) {
        from[i] = i == axis ? begin : 0;
        to[i] = i == axis ? end : CR_DIM_MAX;
        by[i] = i == axis ? step : 1;
    }
    o->begin = ints(b, axis + 1, from);
    o->end = ints(b, axis + 1, to);
    o->step = ints(b, axis + 1, by);
    return CR_EMIT(b, "strided_slice", o, x);
}

struct cr_val *cr_arrange_ints(struct cr_build *b, int n, const int64_t *dim,
                               const int64_t *values)
{
    struct cr_constant *o = CR_NEW(cr_build_arena(b), struct cr_constant);
    int64_t i, count = 1;
    double *v;

    for (i = 0; i < n; i++)
        count *= dim[i];
    v = CR_NEWS(cr_build_arena(b), double, count + 1);
    for (i = 0; i < count; i++)
        v[i] = (double)values[i];
    o->value = (struct cr_reals){ (int)count, v };
    o->shape = ints(b, n, dim);
    o->dtype = CR_INT32;
    return cr_emit(b, "constant", o, 0, NULL);
}

struct cr_val *cr_arrange_pick(struct cr_build *b, struct cr_val *x, int axis,
                               int64_t n, const int64_t *index)
{
    struct cr_gather *o = CR_NEW(cr_build_arena(b), struct cr_gather);

    o->axis = axis;
    return CR_EMIT(b, "gather", o, x, cr_arrange_ints(b, 1, &n, index));
}

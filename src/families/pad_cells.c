#include "families/pad_cells.h"

#include "families/arrange.h"

const struct cr_opt cr_reflection_pad_opts[] = {
    CR_PAD_ROW(0, ""),
    { 0 },
};

const struct cr_opt cr_replication_pad_opts[] = {
    CR_PAD_ROW(-CR_DIM_MAX, CR_PAD_CROPS),
    { 0 },
};

const struct cr_opt cr_constant_pad_opts[] = {
    CR_PAD_ROW(-CR_DIM_MAX, CR_PAD_CROPS),
    CR_REAL(struct cr_pad_opts, value, -INFINITY, INFINITY,
            "Value of the new elements."),
    { 0 },
};

static bool pad_fits(struct cr_build *b, const struct cr_spec *x,
                     const struct cr_pad_rules *r, int n)
{
    int most = r->max_pairs > 0 ? r->max_pairs : x->rank;

    if (n > 1 && (n % 2 != 0 || n < 2 * r->min_pairs || n > 2 * most))
        return cr_fail(b, CR_E_OUT_OF_RANGE,
                       r->min_pairs == most
                           ? "padding: found %d numbers, expected one or %d"
                           : "padding: found %d numbers, expected one, or "
                             "pairs, at most %d numbers",
                       n, 2 * most);
    if (r->max_rank > 0 && (x->rank < r->min_rank || x->rank > r->max_rank))
        return cr_fail(
            b, CR_E_SHAPE, "input is %s, expected %d or %d dimensions",
            cr_diag_format(cr_build_arena(b), x), r->min_rank, r->max_rank);
    if ((n > 1 ? n / 2 : r->dims) > x->rank)
        return cr_fail(b, CR_E_SHAPE,
                       "input %s has fewer dimensions than padding",
                       cr_diag_format(cr_build_arena(b), x));
    return true;
}

/* Without the elements that negative numbers remove; sets these to 0. */
static struct cr_val *pad_crop(struct cr_build *b, struct cr_val *x, int64_t *v,
                               int n)
{
    int i;

    for (i = 0; i < n && x; i += 2) {
        const struct cr_spec *s = cr_val_spec(x);
        int axis = s->rank - 1 - i / 2;
        int64_t size = s->dim[axis], begin = v[i] < 0 ? -v[i] : 0;
        int64_t end = v[i + 1] < 0 ? size + v[i + 1] : size;

        if (end <= begin) {
            cr_fail(b, CR_E_SHAPE, "padding leaves no elements of input %s",
                    cr_diag_format(cr_build_arena(b), s));
            return NULL;
        }
        if (end - begin < size)
            x = cr_arrange_slice(b, x, axis, begin, end, 1);
        v[i] = v[i] < 0 ? 0 : v[i];
        v[i + 1] = v[i + 1] < 0 ? 0 : v[i + 1];
    }
    return x;
}

struct cr_val *cr_pad_build(struct cr_build *b, struct cr_val *x,
                            const struct cr_pad_rules *r)
{
    const struct cr_pad_opts *o = cr_opts(b);
    struct cr_arena *arena = cr_build_arena(b);
    struct cr_pad *attr = CR_NEW(arena, struct cr_pad);
    int n = o->padding.n > 1 ? o->padding.n : 2 * r->dims, i;
    int64_t *v = CR_NEWS(arena, int64_t, n);

    if (!pad_fits(b, cr_val_spec(x), r, o->padding.n))
        return NULL;
    for (i = 0; i < n; i++)
        v[i] = o->padding.v[o->padding.n > 1 ? i : 0];
    x = pad_crop(b, x, v, n);
    attr->padding = (struct cr_ints){ n, v };
    attr->mode = (int)r->mode;
    attr->value = o->value;
    return x ? CR_EMIT(b, "pad", attr, x) : NULL;
}

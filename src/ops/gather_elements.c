/* gather_elements: y[i, j, k] = x[i, index[i, j, k], k] for dim 1, and so on:
 * elements of the flattened x, at positions computed from index. */
#include "families/arrange.h"

enum { X, INDEX };

struct gather_elements {
    int64_t dim;
};

static const struct cr_opt gather_elements_opts[] = {
    CR_INT(struct gather_elements, dim, -CR_RANK_MAX, CR_RANK_MAX - 1,
           "Axis to index."),
    { 0 },
};

/* Position in the flattened x that index 0 would give each element. */
static struct cr_val *gather_elements_base(struct cr_build *b,
                                           const struct cr_spec *x,
                                           const struct cr_spec *index, int at)
{
    int64_t n = cr_count(index), i;
    int64_t *v = CR_NEWS(cr_build_arena(b), int64_t, n + 1);
    int k;

    for (i = 0; i < n; i++) {
        int64_t rest = i, step = 1;

        for (k = x->rank - 1; k >= 0; k--) {
            v[i] += k == at ? 0 : rest % index->dim[k] * step;
            rest /= index->dim[k];
            step *= x->dim[k];
        }
    }
    return cr_arrange_ints(b, index->rank, index->dim, v);
}

static struct cr_val *int_of(struct cr_build *b, int64_t v)
{
    return cr_arrange_ints(b, 0, NULL, &v);
}

static struct cr_val *gather_elements_build(struct cr_build *b,
                                            const void *attr, int n,
                                            struct cr_val *const *in)
{
    const struct cr_spec *x = cr_val_spec(in[X]);
    const struct cr_spec *index = cr_val_spec(in[INDEX]);
    struct cr_gather *gather = CR_NEW(cr_build_arena(b), struct cr_gather);
    struct cr_val *i = in[INDEX], *place, *inside, *line;
    int64_t size, step = 1, all = cr_count(x);
    bool fits = x->rank == index->rank;
    int at, k;

    (void)n;
    if (!cr_arrange_axis(b, in[X], ((const struct gather_elements *)attr)->dim,
                         &at))
        return NULL;
    for (k = 0; k < x->rank && fits; k++)
        fits = k == at || index->dim[k] <= x->dim[k];
    if (!fits) {
        cr_fail(b, CR_E_SHAPE,
                "index: found %s, expected the dimensions of input %s, or "
                "less, but for axis %d",
                cr_diag_format(cr_build_arena(b), index),
                cr_diag_format(cr_build_arena(b), x), at);
        return NULL;
    }
    if (index->type != CR_I32) {
        cr_fail(b, CR_E_DTYPE, "index: found %s, expected int32",
                cr_type_name(index->type));
        return NULL;
    }
    size = x->dim[at];
    for (k = at + 1; k < x->rank; k++)
        step *= x->dim[k];
    i = CR_EMIT(b, "where", NULL, CR_EMIT(b, "less", NULL, i, int_of(b, 0)),
                CR_EMIT(b, "add", NULL, i, int_of(b, size)), i);
    place = CR_EMIT(b, "add", NULL, gather_elements_base(b, x, index, at),
                    CR_EMIT(b, "mul", NULL, i, int_of(b, step)));
    /* an index out of range along the axis must not select another row */
    inside = CR_EMIT(b, "logical_and", NULL,
                     CR_EMIT(b, "greater_equal", NULL, i, int_of(b, 0)),
                     CR_EMIT(b, "less", NULL, i, int_of(b, size)));
    place = CR_EMIT(b, "where", NULL, inside, place, int_of(b, all));
    line = cr_arrange_reshape(b, in[X], 1, &all);
    return CR_EMIT(b, "gather", gather, line, place);
}

static const char *const gather_elements_inputs[] = { "input", "index", NULL };

const struct cr_op cr_op_gather_elements = {
    .about = { .name = "gather_elements",
               .summary = "Gathers elements along an axis by the index of "
                          "each.",
               .opts = gather_elements_opts,
               .size = sizeof(struct gather_elements) },
    .min_inputs = 2,
    .max_inputs = 2,
    .outputs = 1,
    .inputs = gather_elements_inputs,
    .int_inputs = CR_X(X) | CR_X(INDEX),
    .signature = "input, dim, index",
    .build = gather_elements_build,
};

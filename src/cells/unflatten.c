/* Unflatten: splits a dimension into several. */
#include "families/arrange.h"

#include <string.h>

struct unflatten {
    int64_t axis;
    struct cr_ints unflattened_size;
};

static const struct cr_opt unflatten_opts[] = {
    CR_INT(struct unflatten, axis, -CR_RANK_MAX, CR_RANK_MAX - 1,
           "The dimension to split."),
    CR_INTS(struct unflatten, unflattened_size, -1, CR_DIM_MAX,
            "Sizes of the dimensions that replace it; one may be -1, which is "
            "inferred."),
    { 0 },
};

static struct cr_val *unflatten_build(struct cr_build *b,
                                      struct cr_val *const *in)
{
    const struct unflatten *o = cr_opts(b);
    const struct cr_spec *x = cr_val_spec(in[0]);
    int n = o->unflattened_size.n, axis;
    int64_t dim[CR_RANK_MAX];

    if (!cr_arrange_axis(b, in[0], o->axis, &axis))
        return NULL;
    if (x->rank - 1 + n > CR_RANK_MAX) {
        cr_fail(b, CR_E_SHAPE,
                "unflattened_size: found %d sizes, expected at most %d", n,
                CR_RANK_MAX + 1 - x->rank);
        return NULL;
    }
    memcpy(dim, x->dim, (size_t)axis * sizeof *dim);
    memcpy(dim + axis, o->unflattened_size.v, (size_t)n * sizeof *dim);
    memcpy(dim + axis + n, x->dim + axis + 1,
           (size_t)(x->rank - axis - 1) * sizeof *dim);
    return cr_arrange_reshape(b, in[0], x->rank - 1 + n, dim);
}

const struct cr_cell cr_cell_unflatten = {
    .about = {
        .name = "Unflatten",
        .summary = "Splits a dimension into several.",
        .detail = "Any shape.",
        .example = "network: [Flatten, {Dense: {out_channels: 12}}, "
                   "{Unflatten: [1, [3, 2, 2]]}]\n",
        .opts = unflatten_opts,
        .size = sizeof(struct unflatten),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .build = unflatten_build,
};

/* meshgrid: coordinates of a grid: tensor i has the values of list i along its
 * axis and repeats them along the others. 'xy' swaps the first two axes. */
#include "families/arrange.h"

enum { XY, IJ };

struct meshgrid {
    int indexing;
};

static const struct cr_opt meshgrid_opts[] = {
    CR_ENUM_DEFAULT(struct meshgrid, indexing, XY, "xy|ij",
                    "ij: input i varies along axis i. xy: the first two axes "
                    "are swapped."),
    { 0 },
};

static struct cr_val *meshgrid_build(struct cr_build *b, const void *attr,
                                     int n, struct cr_val *const *in)
{
    bool xy = ((const struct meshgrid *)attr)->indexing == XY && n > 1;
    int64_t dim[CR_RANK_MAX], one[CR_RANK_MAX];
    struct cr_val *y[CR_OP_MAX];
    int i, k;

    if (n > CR_RANK_MAX) {
        cr_fail(b, CR_E_SHAPE, "inputs: found too many, expected at most %d",
                CR_RANK_MAX);
        return NULL;
    }
    for (i = 0; i < n; i++) {
        const struct cr_spec *x = cr_val_spec(in[i]);

        if (x->rank > 1) {
            cr_fail(b, CR_E_SHAPE, "inputs: found %s, expected one dimension",
                    cr_diag_format(cr_build_arena(b), x));
            return NULL;
        }
        dim[xy && i < 2 ? 1 - i : i] = cr_count(x);
    }
    for (i = 0; i < n; i++) {
        int own = xy && i < 2 ? 1 - i : i;

        for (k = 0; k < n; k++)
            one[k] = k == own ? dim[k] : 1;
        y[i] = cr_arrange_broadcast(b, cr_arrange_reshape(b, in[i], n, one), n,
                                    dim);
    }
    return cr_tuple(b, n, y);
}

static const char *const meshgrid_inputs[] = { "inputs", NULL };

const struct cr_op cr_op_meshgrid = {
    .about = { .name = "meshgrid",
               .summary = "Coordinate tensors of a grid.",
               .opts = meshgrid_opts,
               .size = sizeof(struct meshgrid) },
    .min_inputs = 1,
    .max_inputs = CR_OP_MAX,
    .outputs = 1,
    .inputs = meshgrid_inputs,
    .int_inputs = CR_X(CR_OP_MAX) - 1,
    .signature = "*inputs, indexing='xy'",
    .build = meshgrid_build,
};

/* unstack: the slices along an axis, as a tuple; inverse of stack */
#include "families/arrange.h"

#define SLICES_MAX 1000

struct unstack {
    int64_t axis;
};

static const struct cr_opt unstack_opts[] = {
    CR_INT_DEFAULT(struct unstack, axis, 0, -CR_RANK_MAX, CR_RANK_MAX - 1,
                   "Axis to unstack."),
    { 0 },
};

static struct cr_val *unstack_build(struct cr_build *b, const void *attr,
                                    int n, struct cr_val *const *in)
{
    const struct cr_spec *x = cr_val_spec(in[0]);
    struct cr_val *slices[SLICES_MAX];
    int64_t dim[CR_RANK_MAX];
    int at, i, k, size;

    (void)n;
    if (!cr_arrange_axis(b, in[0], ((const struct unstack *)attr)->axis, &at))
        return NULL;
    if (x->dim[at] > SLICES_MAX) {
        cr_fail(b, CR_E_LIMIT, "axis %d of input %s: found more than %d slices",
                at, cr_diag_format(cr_build_arena(b), x), SLICES_MAX);
        return NULL;
    }
    size = (int)x->dim[at];
    for (i = k = 0; i < x->rank; i++)
        if (i != at)
            dim[k++] = x->dim[i];
    for (i = 0; i < size; i++) {
        slices[i] = cr_arrange_slice(b, in[0], at, i, i + 1, 1);
        slices[i] = cr_arrange_reshape(b, slices[i], k, dim);
    }
    return cr_tuple(b, size, slices);
}

const struct cr_op cr_op_unstack = {
    .about = { .name = "unstack",
               .summary = "Splits a tensor into its slices along an axis, a "
                          "tuple.",
               .opts = unstack_opts,
               .size = sizeof(struct unstack) },
    .rows = CR_ROWS_EACH,
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .inputs = cr_input,
    .int_inputs = CR_X(0),
    .build = unstack_build,
};

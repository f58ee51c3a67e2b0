/* dot: contracts the last axis of x with the last but one of y, as in NumPy:
 * y[i.., j.., k] = sum over l of a[i.., l] b[j.., l, k] */
#include "families/arrange.h"

#include <string.h>

static struct cr_val *dot_build(struct cr_build *b, const void *attr, int n,
                                struct cr_val *const *in)
{
    const struct cr_spec *x = cr_val_spec(in[0]), *y = cr_val_spec(in[1]);
    int64_t perm[CR_RANK_MAX], dim[2 * CR_RANK_MAX], flat[2];
    int axis = y->rank - 2, i, k = 0;
    struct cr_val *left, *right;

    (void)attr;
    (void)n;
    if (x->rank < 1 || y->rank < 1 ||
        x->dim[x->rank - 1] != y->dim[axis < 0 ? 0 : axis] ||
        x->rank + y->rank - 2 > CR_RANK_MAX) {
        cr_fail(b, CR_E_SHAPE,
                "inputs: found %s and %s, expected the last axis of the first "
                "to be as long as the second last of the second",
                cr_diag_format(cr_build_arena(b), x),
                cr_diag_format(cr_build_arena(b), y));
        return NULL;
    }
    if (y->rank <= 2)
        return CR_EMIT(b, "matmul", NULL, in[0], in[1]);
    for (i = 0; i < x->rank - 1; i++)
        dim[k++] = x->dim[i];
    perm[0] = axis;
    for (i = 0; i < y->rank; i++)
        if (i != axis) {
            perm[k - x->rank + 2] = i;
            dim[k++] = y->dim[i];
        }
    flat[0] = -1;
    flat[1] = y->dim[axis];
    left = cr_arrange_reshape(b, in[0], 2, flat);
    flat[0] = y->dim[axis];
    flat[1] = -1;
    right = cr_arrange_transpose(b, in[1], perm);
    right = cr_arrange_reshape(b, right, 2, flat);
    return cr_arrange_reshape(b, CR_EMIT(b, "matmul", NULL, left, right), k,
                              dim);
}

const struct cr_op cr_op_dot = {
    .about = { .name = "dot",
               .summary = "Dot product over the last axis of one tensor and "
                          "the second last of the other." },
    .min_inputs = 2,
    .max_inputs = 2,
    .outputs = 1,
    .inputs = cr_inputs2,
    .build = dot_build,
};

/* flip: y = x with its elements reversed along axes */
#include "families/arrange.h"

struct flip {
    struct cr_ints dims;
};

static const struct cr_opt flip_opts[] = {
    CR_INTS(struct flip, dims, -CR_RANK_MAX, CR_RANK_MAX - 1,
            "Axes to reverse."),
    { 0 },
};

static struct cr_val *flip_build(struct cr_build *b, const void *attr, int n,
                                 struct cr_val *const *in)
{
    const struct cr_ints *dims = &((const struct flip *)attr)->dims;
    struct cr_val *y = in[0];
    unsigned seen = 0;
    int i, at;

    (void)n;
    for (i = 0; i < dims->n && y; i++) {
        if (!cr_arrange_axis(b, in[0], dims->v[i], &at))
            return NULL;
        if (seen & 1u << at) {
            cr_fail(b, CR_E_SHAPE, "dims: found axis %d twice", at);
            return NULL;
        }
        seen |= 1u << at;
        y = cr_arrange_slice(b, y, at, -1, -CR_DIM_MAX, -1);
    }
    return y;
}

const struct cr_op cr_op_flip = {
    .about = { .name = "flip",
               .summary = "Reverses the order of elements along axes.",
               .opts = flip_opts,
               .size = sizeof(struct flip) },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .inputs = cr_input,
    .int_inputs = CR_X(0),
    .build = flip_build,
};

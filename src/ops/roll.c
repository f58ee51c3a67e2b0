/* roll: y_((i + shift) mod n) = x_i along axes, or along the flattened
 * tensor */
#include "families/arrange.h"

struct roll {
    struct cr_ints shifts, dims;
};

static const struct cr_opt roll_opts[] = {
    CR_INTS(struct roll, shifts, -CR_DIM_MAX, CR_DIM_MAX,
            "Number of positions to shift, one for each of dims; negative "
            "towards the front."),
    CR_INTS_OPTIONAL(struct roll, dims, -CR_RANK_MAX, CR_RANK_MAX - 1,
                     "Axes. Default: the flattened tensor."),
    { 0 },
};

static struct cr_val *roll_axis(struct cr_build *b, struct cr_val *x, int axis,
                                int64_t shift)
{
    int64_t n = cr_val_spec(x)->dim[axis], i;
    int64_t *index = CR_NEWS(cr_build_arena(b), int64_t, n + 1);

    for (i = 0; i < n; i++)
        index[i] = ((i - shift) % n + n) % n;
    return cr_arrange_pick(b, x, axis, n, index);
}

static struct cr_val *roll_build(struct cr_build *b, const void *attr, int n,
                                 struct cr_val *const *in)
{
    const struct roll *o = attr;
    const struct cr_spec *x = cr_val_spec(in[0]);
    int64_t all = cr_count(x);
    struct cr_val *y = in[0];
    int i, at;

    (void)n;
    if (o->shifts.n != (o->dims.n > 0 ? o->dims.n : 1)) {
        cr_fail(b, CR_E_SHAPE, "shifts: found %d, expected %d, one per axis",
                o->shifts.n, o->dims.n > 0 ? o->dims.n : 1);
        return NULL;
    }
    if (o->dims.n == 0) {
        y = cr_arrange_reshape(b, y, 1, &all);
        y = y ? roll_axis(b, y, 0, o->shifts.v[0]) : NULL;
        return cr_arrange_reshape(b, y, x->rank, x->dim);
    }
    for (i = 0; i < o->dims.n && y; i++) {
        if (!cr_arrange_axis(b, in[0], o->dims.v[i], &at))
            return NULL;
        y = roll_axis(b, y, at, o->shifts.v[i]);
    }
    return y;
}

const struct cr_op cr_op_roll = {
    .about = { .name = "roll",
               .summary = "Shifts elements along axes; the last ones wrap "
                          "around to the front.",
               .opts = roll_opts,
               .size = sizeof(struct roll) },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .inputs = cr_input,
    .int_inputs = CR_X(0),
    .build = roll_build,
};

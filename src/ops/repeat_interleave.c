/* repeat_interleave: repeats each element along an axis */
#include "families/arrange.h"

struct repeat_interleave {
    struct cr_ints repeats;
    int64_t axis;
};

static const struct cr_opt repeat_interleave_opts[] = {
    CR_INTS(struct repeat_interleave, repeats, 0, CR_DIM_MAX,
            "Number of repetitions: one for all elements, or a tuple with one "
            "for each."),
    CR_INT_OPTIONAL(struct repeat_interleave, axis, -CR_RANK_MAX,
                    CR_RANK_MAX - 1, "Axis. Default: the flattened tensor."),
    { 0 },
};

static struct cr_val *repeat_interleave_build(struct cr_build *b,
                                              const void *attr, int n,
                                              struct cr_val *const *in)
{
    const struct repeat_interleave *o = attr;
    const struct cr_ints *times = &o->repeats;
    int64_t all = cr_count(cr_val_spec(in[0])), size, i, k, to = 0, *index;
    struct cr_val *x = in[0];
    int at = 0;

    (void)n;
    if (o->axis == CR_INT_NONE)
        x = cr_arrange_reshape(b, x, 1, &all);
    else if (!cr_arrange_axis(b, x, o->axis, &at))
        return NULL;
    if (!x)
        return NULL;
    size = cr_val_spec(x)->dim[at];
    if (times->n > 1 && times->n != size) {
        cr_fail(b, CR_E_SHAPE, "repeats: found %d numbers, expected 1 or %lld",
                times->n, (long long)size);
        return NULL;
    }
    for (i = all = 0; i < size && all <= INT32_MAX; i++)
        all += times->v[times->n > 1 ? i : 0];
    if (all == 0 || all > INT32_MAX) {
        cr_fail(b, CR_E_SHAPE, "repeats: found %lld elements in all, expected "
                               "at least one and fewer than 2^31",
                (long long)all);
        return NULL;
    }
    index = CR_NEWS(cr_build_arena(b), int64_t, all);
    for (i = 0; i < size; i++)
        for (k = 0; k < times->v[times->n > 1 ? i : 0]; k++)
            index[to++] = i;
    return cr_arrange_pick(b, x, at, all, index);
}

const struct cr_op cr_op_repeat_interleave = {
    .about = { .name = "repeat_interleave",
               .summary = "Repeats each element along an axis.",
               .opts = repeat_interleave_opts,
               .size = sizeof(struct repeat_interleave) },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .inputs = cr_input,
    .int_inputs = CR_X(0),
    .build = repeat_interleave_build,
};

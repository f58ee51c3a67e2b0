/* movedim: moves axes to new positions; the others keep their order */
#include "families/arrange.h"

struct movedim {
    struct cr_ints source, destination;
};

static const struct cr_opt movedim_opts[] = {
    CR_INTS(struct movedim, source, -CR_RANK_MAX, CR_RANK_MAX - 1,
            "Axes to move."),
    CR_INTS(struct movedim, destination, -CR_RANK_MAX, CR_RANK_MAX - 1,
            "Their positions in the output."),
    { 0 },
};

static struct cr_val *movedim_build(struct cr_build *b, const void *attr,
                                    int n, struct cr_val *const *in)
{
    const struct movedim *o = attr;
    int rank = cr_val_spec(in[0])->rank, i, from, to;
    int64_t perm[CR_RANK_MAX];
    unsigned moved = 0, taken = 0;

    (void)n;
    if (o->source.n != o->destination.n) {
        cr_fail(b, CR_E_SHAPE, "destination: found %d axes, expected %d",
                o->destination.n, o->source.n);
        return NULL;
    }
    for (i = 0; i < o->source.n; i++) {
        if (!cr_arrange_axis(b, in[0], o->source.v[i], &from) ||
            !cr_arrange_axis(b, in[0], o->destination.v[i], &to))
            return NULL;
        if (moved & 1u << from || taken & 1u << to) {
            cr_fail(b, CR_E_SHAPE, "source, destination: found an axis twice");
            return NULL;
        }
        moved |= 1u << from;
        taken |= 1u << to;
        perm[to] = from;
    }
    for (from = to = 0; from < rank; from++) {
        if (moved & 1u << from)
            continue;
        while (taken & 1u << to)
            to++;
        perm[to++] = from;
    }
    return cr_arrange_transpose(b, in[0], perm);
}

const struct cr_op cr_op_movedim = {
    .about = { .name = "movedim",
               .summary = "Moves axes to other positions.",
               .opts = movedim_opts,
               .size = sizeof(struct movedim) },
    .rows = CR_ROWS_EACH,
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .inputs = cr_input,
    .int_inputs = CR_X(0),
    .build = movedim_build,
};

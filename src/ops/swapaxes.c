/* swapaxes: exchanges two axes */
#include "families/arrange.h"

struct swapaxes {
    int64_t axis0, axis1;
};

static const struct cr_opt swapaxes_opts[] = {
    CR_INT(struct swapaxes, axis0, -CR_RANK_MAX, CR_RANK_MAX - 1,
           "First axis."),
    CR_INT(struct swapaxes, axis1, -CR_RANK_MAX, CR_RANK_MAX - 1,
           "Second axis."),
    { 0 },
};

static struct cr_val *swapaxes_build(struct cr_build *b, const void *attr,
                                     int n, struct cr_val *const *in)
{
    const struct swapaxes *o = attr;
    int64_t perm[CR_RANK_MAX];
    int i, k;

    (void)n;
    if (!cr_arrange_axis(b, in[0], o->axis0, &i) ||
        !cr_arrange_axis(b, in[0], o->axis1, &k))
        return NULL;
    for (n = 0; n < CR_RANK_MAX; n++)
        perm[n] = n == i ? k : n == k ? i : n;
    return cr_arrange_transpose(b, in[0], perm);
}

const struct cr_op cr_op_swapaxes = {
    .about = { .name = "swapaxes",
               .summary = "Swaps two axes.",
               .opts = swapaxes_opts,
               .size = sizeof(struct swapaxes) },
    .rows = CR_ROWS_EACH,
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .inputs = cr_input,
    .int_inputs = CR_X(0),
    .build = swapaxes_build,
};

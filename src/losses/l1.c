/* L1Loss: l = |x - y|;  dl/dx = sign(x - y), 0 where they are equal */
#include "build/loss.h"

struct l1 {
    int reduction;
};

static const struct cr_opt l1_opts[] = {
    CR_LOSS_REDUCTION(struct l1, CR_MEAN),
    { 0 },
};

CR_LOOP2(l1_real, cr_real, cr_real, cr_abs(a - b))
CR_GRAD2(l1_grad, a > b ? g : a < b ? -g : 0, a > b ? -g : a < b ? g : 0)
CR_LOSS_OP(l1, 2, 0.5);

static struct cr_val *l1_build(struct cr_build *b, struct cr_val *const *in)
{
    const struct l1 *o = cr_opts(b);

    if (!cr_loss_broadcast(b, in[0], in[1]))
        return NULL;
    return cr_loss_reduce(b, CR_EMIT_OP(b, &l1_op, NULL, in[0], in[1]),
                          o->reduction);
}

const struct cr_cell cr_loss_l1 = {
    .about = {
        .name = "L1Loss",
        .summary = "Mean absolute error (L1).",
        .detail = "The mean is over all elements. Shapes broadcast, except (n, "
                  "1) with (n), which is an error.",
        .example = "loss: {L1Loss: {reduction: sum}}\n",
        .opts = l1_opts,
        .size = sizeof(struct l1),
    },
    .min_inputs = 2,
    .max_inputs = 2,
    .targets = (const char *const[]){ "label", NULL },
    .target = CR_TARGET_OUTPUT,
    .build = l1_build,
};

/* HuberLoss, with d = |x - y|: l = d^2 / 2 where d < delta, else
 * delta (d - delta / 2);  dl/dx = x - y, or delta times its sign */
#include "build/loss.h"

struct huber {
    int reduction;
    double delta;
};

static const struct cr_opt huber_opts[] = {
    CR_LOSS_REDUCTION(struct huber, CR_MEAN),
    CR_REAL_POS_DEFAULT(struct huber, delta, 1, 1e30,
                        "Absolute error from which on the loss is linear."),
    { 0 },
};

CR_INLINE cr_real huber_value(const void *attr, cr_real d)
{
    cr_real delta = (cr_real)((const struct huber *)attr)->delta;

    d = cr_abs(d);
    return d < delta ? d * d / 2 : delta * (d - delta / 2);
}

CR_INLINE cr_real huber_dx(const void *attr, cr_real d)
{
    cr_real delta = (cr_real)((const struct huber *)attr)->delta;

    return d >= delta ? delta : d <= -delta ? -delta : d;
}

CR_LOOP2(huber_real, cr_real, cr_real, huber_value(attr, a - b))
CR_GRAD2(huber_grad, g *huber_dx(attr, a - b), -g *huber_dx(attr, a - b))
CR_LOSS_OP(huber, 2, 1);

static struct cr_val *huber_build(struct cr_build *b, struct cr_val *const *in)
{
    const struct huber *o = cr_opts(b);

    if (!cr_loss_broadcast(b, in[0], in[1]))
        return NULL;
    return cr_loss_reduce(b, CR_EMIT_OP(b, &huber_op, o, in[0], in[1]),
                          o->reduction);
}

const struct cr_cell cr_loss_huber = {
    .about = {
        .name = "HuberLoss",
        .summary = "Huber loss: squared error below delta, linear above.",
        .detail = "It equals delta times SmoothL1Loss with beta = delta. "
                  "Shapes broadcast, except (n, 1) with (n), which is an "
                  "error.",
        .example = "loss: {HuberLoss: {delta: 0.5}}\n",
        .opts = huber_opts,
        .size = sizeof(struct huber),
    },
    .min_inputs = 2,
    .max_inputs = 2,
    .targets = (const char *const[]){ "label", NULL },
    .target = CR_TARGET_OUTPUT,
    .build = huber_build,
};

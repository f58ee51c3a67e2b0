/* SmoothL1Loss, with d = |x - y|: l = d^2 / (2 beta) where d < beta, else
 * d - beta / 2;  dl/dx = (x - y) / beta, or the sign of x - y */
#include "build/loss.h"

struct smooth_l1 {
    double beta;
    int reduction;
};

static const struct cr_opt smooth_l1_opts[] = {
    CR_REAL_POS_DEFAULT(struct smooth_l1, beta, 1, 1e30,
                        "Absolute error from which on the loss is linear."),
    CR_LOSS_REDUCTION(struct smooth_l1, CR_NONE),
    { 0 },
};

CR_INLINE cr_real smooth_value(const void *attr, cr_real d)
{
    cr_real beta = (cr_real)((const struct smooth_l1 *)attr)->beta;

    d = cr_abs(d);
    return d < beta ? d * d / (2 * beta) : d - beta / 2;
}

CR_INLINE cr_real smooth_dx(const void *attr, cr_real d)
{
    cr_real beta = (cr_real)((const struct smooth_l1 *)attr)->beta;

    return d >= beta ? 1 : d <= -beta ? -1 : d / beta;
}

CR_LOOP2(smooth_l1_real, cr_real, cr_real, smooth_value(attr, a - b))
CR_GRAD2(smooth_l1_grad, g *smooth_dx(attr, a - b),
         -g *smooth_dx(attr, a - b))
CR_LOSS_OP(smooth_l1, 2, 1);

static struct cr_val *smooth_l1_build(struct cr_build *b,
                                      struct cr_val *const *in)
{
    const struct smooth_l1 *o = cr_opts(b);

    if (!cr_loss_same(b, in))
        return NULL;
    return cr_loss_reduce(b, CR_EMIT_OP(b, &smooth_l1_op, o, in[0], in[1]),
                          o->reduction);
}

const struct cr_cell cr_loss_smooth_l1 = {
    .about = {
        .name = "SmoothL1Loss",
        .summary = "Smooth L1 loss: squared error below beta, linear above.",
        .detail = "Output and label have the same shape. The default reduction "
                  "is none, as in MindSpore.",
        .example = "loss: {SmoothL1Loss: {reduction: mean}}\n",
        .opts = smooth_l1_opts,
        .size = sizeof(struct smooth_l1),
    },
    .min_inputs = 2,
    .max_inputs = 2,
    .targets = (const char *const[]){ "label", NULL },
    .target = CR_TARGET_OUTPUT,
    .build = smooth_l1_build,
};

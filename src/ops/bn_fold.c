/*
 * bn_fold: folds a BatchNorm that uses its moving statistics into the layer
 * before it, so that the BatchNorm itself is not run.
 *
 *   s = gamma / sqrt(variance + eps)
 *   w'[o, ...] = s[o] w[o, ...]      b'[o] = s[o] (b[o] - mean[o]) + beta[o]
 *
 * Plans for prediction insert it; no cell emits it. Its attr is that of
 * batch_norm. Inputs: w (o, ...), b (o) or absent, gamma, beta, mean, variance
 * (o).
 */
#include "graph/op.h"
#include "graph/op_attrs.h"
#include "kernels/channel.h"
#include "kernels/parallel_for.h"

enum {
    W,
    B,
    GAMMA,
    BETA,
    MEAN,
    VARIANCE
};

static bool bn_fold_plan(struct cr_op_plan *p)
{
    const struct cr_spec *w = &p->in[W], *gamma = &p->in[GAMMA];

    if (w->rank < 2 || gamma->rank != 1 || w->dim[0] != gamma->dim[0])
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "weight: found %s, expected %s "
                        "channels",
                        cr_diag_format(p->arena, w),
                        cr_diag_format(p->arena, gamma));
    p->out[0] = *w;
    p->out[1] = *gamma;
    p->scratch = (size_t)gamma->dim[0] * sizeof(cr_real);
    return true;
}

struct fold {
    const cr_real *w, *scale;
    cr_real *to;
    int64_t each;
};

static void fold_range(void *ctx, int64_t from, int64_t to)
{
    const struct fold *f = ctx;
    int64_t i;

    for (i = from; i < to; i++)
        f->to[i] = f->scale[i / f->each] * f->w[i];
}

static void bn_fold_forward(const struct cr_op_ctx *s)
{
    const struct cr_batch_norm *o = s->attr;
    int64_t i, c = s->in[GAMMA].dim[0], n = cr_count(&s->in[W]);
    struct fold f = { .w = s->x[W],
                      .scale = s->scratch,
                      .to = s->y[0],
                      .each = n / c };
    const cr_real *b = s->x[B];
    cr_real *shift = s->y[1];

    cr_channel_affine(c, o->eps, s->x[GAMMA], s->x[BETA], s->x[MEAN],
                      s->x[VARIANCE], s->scratch, shift);
    for (i = 0; b && i < c; i++)
        shift[i] += f.scale[i] * b[i];
    cr_parallel_for(n, 0.5, &f, fold_range);
}

const struct cr_op cr_op_bn_fold = {
    .about = { .name = "bn_fold",
               .internal = true,
               .summary = "Folds a BatchNorm into the weight and bias of the "
                          "layer before it.",
               .opts = cr_batch_norm_opts,
               .size = sizeof(struct cr_batch_norm) },
    .min_inputs = 6,
    .max_inputs = 6,
    .outputs = 2,
    .plan = bn_fold_plan,
    .forward = bn_fold_forward,
};

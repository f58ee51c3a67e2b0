/*
 * group_norm: y = (x - mean) r gamma_c + beta_c,  r = 1 / sqrt(variance +
 * eps), mean and (biased) variance of each group of channels of each sample, x
 * (N, C, ...); with one channel per group it is instance normalisation.
 *
 * Backward, d = dy gamma_c, M elements in a group:
 *   dx = r (d - sum(d) / M - (x - mean) r^2 sum(d (x - mean)) / M)
 *   dgamma_c = sum of dy (x - mean) r over samples and space; dbeta_c of dy
 * All sums are computed from two sums of dy per channel of a sample.
 * Wu and He, arXiv:1803.08494.
 */
#include "graph/op.h"
#include "graph/op_attrs.h"
#include "kernels/parallel_for.h"
#include "kernels/row_stats.h"

enum {
    X,
    GAMMA,
    BETA
};

const struct cr_opt cr_group_norm_opts[] = {
    CR_INT(struct cr_group_norm, num_groups, 1, CR_DIM_MAX,
           "Number of groups; must divide the number of channels."),
    CR_REAL_POS_DEFAULT(struct cr_group_norm, eps, 1e-5, 1e30,
                        "Added to the variance."),
    { 0 },
};

static bool group_norm_plan(struct cr_op_plan *p)
{
    const struct cr_group_norm *o = p->attr;
    const struct cr_spec *x = &p->in[X];
    int i;

    if (x->rank < 2)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "input: found %s, expected (N, C, ...)",
                        cr_diag_format(p->arena, x));
    for (i = GAMMA; i <= BETA; i++)
        if (p->in[i].rank != 1 || p->in[i].dim[0] != x->dim[1])
            return cr_error(p->diag, p->pos, CR_E_SHAPE,
                            "input: found %s with %lld channels, expected as "
                            "many as the %s values for them",
                            cr_diag_format(p->arena, x), (long long)x->dim[1],
                            cr_diag_format(p->arena, &p->in[i]));
    if (x->dim[1] % o->num_groups != 0)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "input: found %lld channels, expected a multiple of "
                        "%lld groups",
                        (long long)x->dim[1], (long long)o->num_groups);
    p->out[0] = *x;
    p->saved = (size_t)(x->dim[0] * o->num_groups) * 2 * sizeof(cr_real);
    p->scratch = (size_t)(x->dim[0] * x->dim[1]) * 2 * sizeof(double);
    return true;
}

struct groups {
    const struct cr_op_ctx *s;
    const struct cr_row_kernel *k;
    int64_t groups;                      /* of all samples */
    int64_t per_sample, channels, space; /* groups per sample; channels per
                                            group; elements per channel */
    cr_real *mean, *r;
    double *sum, *dot; /* per channel of a sample */
};

static struct groups group_norm_groups(const struct cr_op_ctx *s)
{
    const struct cr_group_norm *o = s->attr;
    const struct cr_spec *x = &s->in[X];
    struct groups g = { .s = s,
                        .k = cr_row_kernel(),
                        .per_sample = o->num_groups };

    g.groups = x->dim[0] * o->num_groups;
    g.channels = x->dim[1] / o->num_groups;
    g.space = cr_count(x) / (x->dim[0] * x->dim[1]);
    g.mean = s->saved;
    g.r = g.mean + g.groups;
    g.sum = s->scratch;
    g.dot = g.sum + x->dim[0] * x->dim[1];
    return g;
}

static void group_norm_range(void *ctx, int64_t from, int64_t to)
{
    const struct groups *g = ctx;
    const struct cr_group_norm *o = g->s->attr;
    int64_t i, c, m = g->channels * g->space;

    for (i = from; i < to; i++) {
        const cr_real *x = cr_creals(g->s->x[X]) + i * m;
        cr_real *y = cr_reals(g->s->y[0]) + i * m;
        int64_t first = i % g->per_sample * g->channels;
        double mean, variance;

        g->k->moments(m, x, &mean, &variance);
        g->mean[i] = (cr_real)mean;
        g->r[i] = (cr_real)(1 / sqrt(variance + o->eps));
        for (c = 0; c < g->channels; c++) {
            cr_real scale = g->r[i] * cr_creals(g->s->x[GAMMA])[first + c];

            g->k->affine(g->space, x + c * g->space, g->mean[i], scale, NULL,
                         cr_creals(g->s->x[BETA]) + first + c,
                         y + c * g->space);
        }
    }
}

static void group_norm_forward(const struct cr_op_ctx *s)
{
    struct groups g = group_norm_groups(s);

    cr_parallel_for_coarse(g.groups, (double)(g.channels * g.space), &g,
                           group_norm_range);
}

static void group_norm_back_range(void *ctx, int64_t from, int64_t to)
{
    const struct groups *g = ctx;
    const struct cr_op_ctx *s = g->s;
    int64_t i, c, m = g->channels * g->space;

    for (i = from; i < to; i++) {
        const cr_real *x = cr_creals(s->x[X]) + i * m;
        const cr_real *dy = cr_creals(s->dy[0]) + i * m;
        const cr_real *gamma =
            cr_creals(s->x[GAMMA]) + i % g->per_sample * g->channels;
        double *sums = g->sum + i * g->channels;
        double *dots = g->dot + i * g->channels;
        double sum = 0, dot = 0, r = (double)g->r[i];

        for (c = 0; c < g->channels; c++) {
            g->k->sums(g->space, x + c * g->space, g->mean[i],
                       dy + c * g->space, NULL, &sums[c], &dots[c]);
            sum += sums[c] * (double)gamma[c];
            dot += dots[c] * (double)gamma[c];
            dots[c] *= r;
        }
        if (!s->dx[X])
            continue;
        sum /= (double)m;
        dot *= r * r / (double)m;
        for (c = 0; c < g->channels; c++)
            g->k->backward(g->space, x + c * g->space, g->mean[i],
                           dy + c * g->space, NULL, gamma[c], g->r[i],
                           (cr_real)sum, (cr_real)dot, s->accumulate[X],
                           cr_reals(s->dx[X]) + i * m + c * g->space);
    }
}

static void group_norm_backward(const struct cr_op_ctx *s)
{
    struct groups g = group_norm_groups(s);
    int64_t n, c, samples = s->in[X].dim[0], channels = s->in[X].dim[1];
    int i;

    cr_parallel_for_coarse(g.groups, 2 * (double)(g.channels * g.space), &g,
                           group_norm_back_range);
    for (i = GAMMA; i <= BETA; i++)
        for (c = 0; c < channels && s->dx[i]; c++) {
            const double *from = i == GAMMA ? g.dot : g.sum;
            cr_real *to = cr_reals(s->dx[i]) + c;
            double sum = s->accumulate[i] ? (double)*to : 0;

            for (n = 0; n < samples; n++)
                sum += from[n * channels + c];
            *to = (cr_real)sum;
        }
}

static const char *const group_norm_inputs[] = { "x", "gamma", "beta", NULL };

static const char *group_norm_kernel(const struct cr_op_ctx *s)
{
    (void)s;
    return cr_row_kernel()->head.name;
}

static const struct cr_op_kernels group_norm_kernels = {
    .name = group_norm_kernel,
};

const struct cr_op cr_op_group_norm = {
    .about = { .name = "group_norm",
               .summary = "Group normalisation.",
               .opts = cr_group_norm_opts,
               .size = sizeof(struct cr_group_norm) },
    .rows = CR_ROWS_FIRST,
    .min_inputs = 3,
    .max_inputs = 3,
    .outputs = 1,
    .inputs = group_norm_inputs,
    .signature = "input, num_groups, weight=None, bias=None, eps=1e-5",
    .text = "channels = shape(input, 1)\n"
            "gamma = ones(channels) if weight is None else weight\n"
            "beta = zeros(channels) if bias is None else bias\n"
            "return group_norm(input, gamma, beta, num_groups=num_groups, "
            "eps=eps)",
    .saved_for_backward = CR_X(X) | CR_X(GAMMA),
    .kernels = &group_norm_kernels,
    .plan = group_norm_plan,
    .forward = group_norm_forward,
    .bprop = "z = reshape(a, (shape(a, 0), num_groups, -1))\n"
             "d = z - mean(z, 2, keepdims=True)\n"
             "r = rsqrt(mean(d * d, 2, keepdims=True) + eps)\n"
             "h = d * r\n"
             "w = b\n"
             "for i in range(a.ndim - 2):\n"
             "    w = None if w is None else expand_dims(w, -1)\n"
             "g = reshape(dy if w is None else dy * w, z.shape)\n"
             "dx = g - mean(g, 2, keepdims=True)\n"
             "dx = r * (dx - h * mean(g * h, 2, keepdims=True))\n"
             "return (reshape(dx, a.shape),\n"
             "        None if b is None\n"
             "        else shaped(dy * reshape(h, a.shape), b, 1),\n"
             "        None if c is None else shaped(dy, c, 1))",
    .backward = group_norm_backward,
};

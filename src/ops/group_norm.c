/*
 * group_norm: y = act((x - mean) r gamma_c + beta_c + more),
 *             r = 1 / sqrt(variance + eps),   mean and (biased) variance of
 * each group of channels of each sample, x (N, C, ...); with one channel per
 * group it is instance normalisation.
 *
 * Backward, d = dy gamma_c, M elements in a group, dy after act:
 *   dx = r (d - sum(d) / M - (x - mean) r^2 sum(d (x - mean)) / M)
 *   dgamma_c = sum of dy (x - mean) r over samples and space; dbeta_c of dy
 * All sums are computed from two sums of dy per channel of a sample.
 * Wu and He, arXiv:1803.08494.
 */
#include "base/thread_pool.h"
#include "families/channel_norm.h"
#include "graph/op_attrs.h"
#include "kernels/parallel_for.h"
#include "kernels/row_stats.h"

enum {
    X,
    GAMMA,
    BETA,
    MORE
};

const struct cr_opt cr_group_norm_opts[] = {
    CR_INT(struct cr_group_norm, num_groups, 1, CR_DIM_MAX,
           "Number of groups; must divide the number of channels."),
    CR_REAL_POS_DEFAULT(struct cr_group_norm, eps, 1e-5, 1e30,
                        "Added to the variance."),
    { 0 },
};

struct groups {
    const struct cr_op_ctx *s;
    const struct cr_row_kernel *k;
    struct cr_channels ch; /* of one sample */
    int64_t samples;
    int64_t groups, channels; /* groups per sample; channels per group */
    cr_real *mean, *r;        /* of each group of all samples */
    double *sum, *dot;        /* per channel of a sample */
};

static struct groups group_norm_of(const struct cr_spec *x, int64_t groups)
{
    struct groups g = { .ch = cr_channels(x),
                        .samples = x->dim[0],
                        .groups = groups,
                        .channels = x->dim[1] / groups };

    g.ch.n = 1;
    return g;
}

/* Of the thread that computes a sample. */
struct room {
    double *mean, *variance;
    cr_real *near, *scale, *shift, *slope; /* one per channel */
    cr_real *rest;
};

static size_t group_norm_room(const struct cr_channels *ch)
{
    size_t bytes = (size_t)ch->c * (2 * sizeof(double) + 4 * sizeof(cr_real)) +
                   (size_t)cr_channel_thread_scratch(ch) * sizeof(cr_real);

    return (bytes + 63) / 64 * 64;
}

static struct room group_norm_open(const struct cr_channels *ch)
{
    struct room r = { .mean = cr_thread_scratch(ch->taken +
                                                cr_channel_low_scratch(ch)) };

    r.variance = r.mean + ch->c;
    r.near = (cr_real *)(r.variance + ch->c);
    r.scale = r.near + ch->c;
    r.shift = r.scale + ch->c;
    r.slope = r.shift + ch->c;
    r.rest = r.slope + ch->c;
    return r;
}

static bool group_norm_plan(struct cr_op_plan *p)
{
    const struct cr_group_norm *o = p->attr;
    const struct cr_spec *x = &p->in[X];
    struct groups g;

    if (!cr_channel_norm_check(p, MORE))
        return false;
    if (x->dim[1] % o->num_groups != 0)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "input: found %lld channels, expected a multiple of "
                        "%lld groups",
                        (long long)x->dim[1], (long long)o->num_groups);
    g = group_norm_of(x, o->num_groups);
    p->out[0] = *x;
    p->saved = (size_t)(g.samples * g.groups) * 2 * sizeof(cr_real);
    p->scratch = (size_t)(g.samples * g.ch.c) * 2 * sizeof(double);
    p->thread_scratch = group_norm_room(&g.ch) + cr_channel_low_scratch(&g.ch);
    return true;
}

static struct groups group_norm_groups(const struct cr_op_ctx *s)
{
    const struct cr_group_norm *o = s->attr;
    struct groups g = group_norm_of(&s->in[X], o->num_groups);

    g.s = s;
    g.k = cr_row_kernel();
    g.ch.taken = group_norm_room(&g.ch);
    g.mean = s->saved;
    g.r = g.mean + g.samples * g.groups;
    g.sum = s->scratch;
    g.dot = g.sum + g.samples * g.ch.c;
    return g;
}

static void group_norm_range(void *ctx, int64_t from, int64_t to)
{
    const struct groups *g = ctx;
    const struct cr_group_norm *o = g->s->attr;
    int64_t i, c, m = g->channels * g->ch.s;

    for (i = from; i < to; i++) {
        const cr_real *x = cr_creals(g->s->x[X]) + i * m;
        cr_real *y = cr_reals(g->s->y[0]) + i * m;
        int64_t first = i % g->groups * g->channels;
        double mean, variance;

        if (!g->s->again) {
            g->k->moments(m, x, &mean, &variance);
            g->mean[i] = (cr_real)mean;
            g->r[i] = (cr_real)(1 / sqrt(variance + o->eps));
        }
        for (c = 0; c < g->channels; c++) {
            cr_real scale = g->r[i] * cr_creals(g->s->x[GAMMA])[first + c];

            g->k->affine(g->ch.s, x + c * g->ch.s, g->mean[i], scale, NULL,
                         cr_creals(g->s->x[BETA]) + first + c, y + c * g->ch.s);
        }
    }
}

/* mean and scale of each channel of sample i */
static void group_norm_scales(const struct groups *g, int64_t i,
                              const struct room *r)
{
    const cr_real *gamma = g->s->x[GAMMA];
    int64_t k, c;

    for (k = 0; k < g->groups; k++) {
        cr_real mean = g->mean[i * g->groups + k];
        cr_real rstd = g->r[i * g->groups + k];

        for (c = k * g->channels; c < (k + 1) * g->channels; c++) {
            r->near[c] = mean;
            r->scale[c] = rstd * gamma[c];
        }
    }
}

/* From mean and variance of the channels of sample i to those of groups. */
static void group_norm_join(const struct groups *g, int64_t i,
                            const struct room *r)
{
    const struct cr_group_norm *o = g->s->attr;
    double n = (double)g->channels;
    int64_t k, c;

    for (k = 0; k < g->groups; k++) {
        const double *means = r->mean + k * g->channels;
        const double *variances = r->variance + k * g->channels;
        double mean = 0, variance = 0;

        for (c = 0; c < g->channels; c++)
            mean += means[c];
        mean /= n;
        for (c = 0; c < g->channels; c++) {
            double off = means[c] - mean;

            variance += variances[c] + off * off;
        }
        g->mean[i * g->groups + k] = (cr_real)mean;
        g->r[i * g->groups + k] = (cr_real)(1 / sqrt(variance / n + o->eps));
    }
}

static void group_norm_sample_range(void *ctx, int64_t from, int64_t to)
{
    const struct groups *g = ctx;
    const struct cr_op_ctx *s = g->s;
    struct room r = group_norm_open(&g->ch);
    int64_t i, size = g->ch.c * g->ch.s;

    for (i = from; i < to; i++) {
        struct cr_channel_map map = { .x = cr_creals(s->x[X]) + i * size,
                                      .mean = r.near,
                                      .scale = r.scale,
                                      .shift = s->x[BETA],
                                      .relu = s->end.act == CR_ACT_RELU,
                                      .map = s->end.map,
                                      .attr = s->end.attr,
                                      .y = cr_reals(s->y[0]) + i * size };

        if (s->x[MORE])
            map.more = cr_creals(s->x[MORE]) + i * size;
        if (!s->again) {
            cr_channel_moments(&g->ch, map.x, r.rest, r.mean, r.variance);
            group_norm_join(g, i, &r);
        }
        group_norm_scales(g, i, &r);
        cr_channel_map(&g->ch, &map, r.rest);
    }
}

/* Whether samples are computed, while they are in the cache; else groups, each
 * of which is one run of elements. */
static bool group_norm_by_sample(const struct groups *g)
{
    return g->ch.last || g->s->in[MORE].rank > 0;
}

/* Threads share groups, samples or each of a few samples. */
static void group_norm_run(struct groups *g, double cost,
                           void (*group)(void *ctx, int64_t from, int64_t to),
                           void (*sample)(void *ctx, int64_t from, int64_t to))
{
    double size = cost * (double)(g->ch.c * g->ch.s);

    if (!group_norm_by_sample(g))
        cr_parallel_for_coarse(g->samples * g->groups, size / (double)g->groups,
                               g, group);
    else if (g->samples < cr_thread_count())
        sample(g, 0, g->samples);
    else
        cr_parallel_for_coarse(g->samples, size, g, sample);
}

static void group_norm_forward(const struct cr_op_ctx *s)
{
    struct groups g = group_norm_groups(s);

    group_norm_run(&g, 1, group_norm_range, group_norm_sample_range);
}

static void group_norm_back_range(void *ctx, int64_t from, int64_t to)
{
    const struct groups *g = ctx;
    const struct cr_op_ctx *s = g->s;
    int64_t i, c, m = g->channels * g->ch.s;

    for (i = from; i < to; i++) {
        const cr_real *x = cr_creals(s->x[X]) + i * m;
        const cr_real *dy = cr_creals(s->dy[0]) + i * m;
        const cr_real *gamma =
            cr_creals(s->x[GAMMA]) + i % g->groups * g->channels;
        double *sums = g->sum + i * g->channels;
        double *dots = g->dot + i * g->channels;
        double sum = 0, dot = 0, r = (double)g->r[i];

        for (c = 0; c < g->channels; c++) {
            g->k->sums(g->ch.s, x + c * g->ch.s, g->mean[i], dy + c * g->ch.s,
                       NULL, &sums[c], &dots[c]);
            sum += sums[c] * (double)gamma[c];
            dot += dots[c] * (double)gamma[c];
            dots[c] *= r;
        }
        if (!s->dx[X])
            continue;
        sum /= (double)m;
        dot *= r * r / (double)m;
        for (c = 0; c < g->channels; c++)
            g->k->backward(g->ch.s, x + c * g->ch.s, g->mean[i],
                           dy + c * g->ch.s, NULL, gamma[c], g->r[i],
                           (cr_real)sum, (cr_real)dot, s->accumulate[X],
                           cr_reals(s->dx[X]) + i * m + c * g->ch.s);
    }
}

/* From sums of the channels of sample i to what dx takes of its groups: by the
 * scales that it has, so that the gradient of a group of one element is 0. */
static void group_norm_slopes(const struct groups *g, int64_t i,
                              const struct room *r)
{
    double m = (double)(g->channels * g->ch.s);
    int64_t k, c;

    for (k = 0; k < g->ch.c; k += g->channels) {
        double *sums = g->sum + i * g->ch.c + k;
        double *dots = g->dot + i * g->ch.c + k;
        double rstd = (double)g->r[i * g->groups + k / g->channels];
        double sum = 0, dot = 0;

        for (c = 0; c < g->channels; c++) {
            sum += sums[c] * (double)r->scale[k + c];
            dot += dots[c] * (double)r->scale[k + c];
            dots[c] *= rstd;
        }
        for (c = k; c < k + g->channels; c++) {
            r->shift[c] = (cr_real)(sum / m);
            r->slope[c] = (cr_real)(rstd * rstd * dot / m);
        }
    }
}

static void group_norm_back_sample_range(void *ctx, int64_t from, int64_t to)
{
    const struct groups *g = ctx;
    const struct cr_op_ctx *s = g->s;
    struct room r = group_norm_open(&g->ch);
    int64_t i;

    for (i = from; i < to; i++) {
        int64_t at = i * g->ch.c * g->ch.s;
        struct cr_channel_backward back = {
            .x = cr_creals(s->x[X]) + at,
            .dy = cr_creals(s->dy[0]) + at,
            .mask = cr_channel_norm_mask(s, r.scale, s->x[BETA]),
            .mean = r.near,
            .scale = r.scale,
            .shift = r.shift,
            .slope = r.slope,
            .dx = s->dx[X] ? cr_reals(s->dx[X]) + at : NULL,
            .dmore = s->dx[MORE] ? cr_reals(s->dx[MORE]) + at : NULL,
            .add_dx = s->accumulate[X],
            .add_more = s->accumulate[MORE]
        };

        if (back.mask.y)
            back.mask.y += at;
        /* what the gradient of a map leaves of dy is kept in dx */
        if (back.mask.grad && !back.add_dx)
            back.mask.d = back.dx;
        group_norm_scales(g, i, &r);
        cr_channel_sums(&g->ch, back.x, r.near, back.dy, &back.mask, r.rest,
                        g->sum + i * g->ch.c, g->dot + i * g->ch.c);
        if (back.mask.d) {
            back.dy = back.mask.d;
            back.mask = (struct cr_channel_mask){ .y = NULL };
        }
        group_norm_slopes(g, i, &r);
        if (back.dx || back.dmore)
            cr_channel_backward(&g->ch, &back, r.rest);
    }
}

static void group_norm_backward(const struct cr_op_ctx *s)
{
    struct groups g = group_norm_groups(s);
    int64_t n, c;
    int i;

    group_norm_run(&g, 2, group_norm_back_range, group_norm_back_sample_range);
    for (i = GAMMA; i <= BETA; i++)
        for (c = 0; c < g.ch.c && s->dx[i]; c++) {
            const double *from = i == GAMMA ? g.dot : g.sum;
            cr_real *to = cr_reals(s->dx[i]) + c;
            double sum = s->accumulate[i] ? (double)*to : 0;

            for (n = 0; n < g.samples; n++)
                sum += from[n * g.ch.c + c];
            *to = (cr_real)sum;
        }
}

static const char *const group_norm_inputs[] = { "x", "gamma", "beta", "more",
                                                 NULL };

static const char *group_norm_kernel(const struct cr_op_ctx *s)
{
    return cr_channels(&s->in[X]).last ? cr_channel_kernel_name(NULL)
                                       : cr_row_kernel()->head.name;
}

static bool group_norm_accepts(const struct cr_op_ctx *s, unsigned of,
                               unsigned parts)
{
    return cr_channels(&s->in[X]).last && cr_channel_norm_accepts(s, of, parts);
}

static const struct cr_op_kernels group_norm_kernels = { .name =
                                                             group_norm_kernel,
                                                         .accepts =
                                                             group_norm_accepts,
                                                         .addend = MORE,
                                                         .last = cr_last_too };

const struct cr_op cr_op_group_norm = {
    .about = { .name = "group_norm",
               .summary = "Group normalisation.",
               .opts = cr_group_norm_opts,
               .size = sizeof(struct cr_group_norm) },
    .rows = CR_ROWS_FIRST,
    .min_inputs = 3,
    .max_inputs = 4,
    .outputs = 1,
    .inputs = group_norm_inputs,
    .signature = "input, num_groups, weight=None, bias=None, eps=1e-5",
    .text = "channels = shape(input, 1)\n"
            "gamma = ones(channels) if weight is None else weight\n"
            "beta = zeros(channels) if bias is None else bias\n"
            "return group_norm(input, gamma, beta, num_groups=num_groups, "
            "eps=eps)",
    .saved_for_backward = CR_X(X) | CR_X(GAMMA) | CR_X(BETA),
    .kernels = &group_norm_kernels,
    .saved_again = true,
    .plan = group_norm_plan,
    .forward = group_norm_forward,
    .bprop = "z = reshape(a, (shape(a, 0), num_groups, -1))\n"
             "o = z - mean(z, 2, keepdims=True)\n"
             "r = rsqrt(mean(o * o, 2, keepdims=True) + eps)\n"
             "h = o * r\n"
             "w = b\n"
             "for i in range(a.ndim - 2):\n"
             "    w = None if w is None else expand_dims(w, -1)\n"
             "g = reshape(dy if w is None else dy * w, z.shape)\n"
             "dx = g - mean(g, 2, keepdims=True)\n"
             "dx = r * (dx - h * mean(g * h, 2, keepdims=True))\n"
             "return (reshape(dx, a.shape),\n"
             "        None if b is None\n"
             "        else shaped(dy * reshape(h, a.shape), b, 1),\n"
             "        None if c is None else shaped(dy, c, 1), dy)",
    .backward = group_norm_backward,
};

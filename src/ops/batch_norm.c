/*
 * batch_norm: y = act(gamma xhat + beta + more),  xhat = (x - mean) r,
 *             r = 1 / sqrt(variance + eps), per channel   x (N, C, ...)
 *
 * mean and variance are either those of the batch (biased), which then update
 * the moving ones, moving = momentum moving + (1 - momentum) batch, with the
 * unbiased variance; or they are the moving ones. With a single value per
 * channel the unbiased variance is undefined, and the moving one is not
 * updated.
 *
 * Backward, with d = dy where y > 0 (dy without act), m values per channel:
 *   dbeta = sum d;  dgamma = sum d xhat;  dmore = d
 *   dx = gamma r (d - dbeta / m - xhat dgamma / m), or gamma r d if the
 *   moving statistics were used.
 * Ioffe and Szegedy, arXiv:1502.03167.
 */
#include "families/channel_norm.h"
#include "families/low.h"
#include "graph/op_attrs.h"

enum {
    X,
    GAMMA,
    BETA,
    MEAN,
    VARIANCE,
    MORE
};

const struct cr_opt cr_batch_norm_opts[] = {
    CR_REAL_POS_DEFAULT(struct cr_batch_norm, eps, 1e-5, 1e30,
                        "Added to the variance."),
    CR_REAL_DEFAULT(struct cr_batch_norm, momentum, 0.9, 0, 1,
                    "Momentum of the moving statistics: the weight of the old "
                    "value (1 minus PyTorch's momentum)."),
    CR_BOOL_OPTIONAL(struct cr_batch_norm, use_batch_statistics,
                     "Use batch statistics (true) or moving statistics "
                     "(false). Default: batch statistics in training."),
    CR_BOOL_DEFAULT(struct cr_batch_norm, sync, false,
                    "Under mpirun, use the statistics of all processes even "
                    "with train.batch_norm: local."),
    { 0 },
};

static bool batch_norm_batch(const struct cr_batch_norm *o, bool training)
{
    return o->use_batch_statistics == CR_BOOL_NONE ? training
                                                   : o->use_batch_statistics;
}

static struct cr_channel_norm batch_norm_whole(const struct cr_batch_norm *o,
                                               const struct cr_spec *x,
                                               bool training)
{
    return (struct cr_channel_norm){ .ch = cr_channels(x),
                                     .batch = batch_norm_batch(o, training),
                                     .eps = o->eps };
}

static bool batch_norm_plan(struct cr_op_plan *p)
{
    const struct cr_spec *x = &p->in[X];
    struct cr_channel_norm norm;
    struct cr_channels ch;

    if (!cr_channel_norm_check(p, MORE))
        return false;
    ch = cr_channels(x);
    norm = batch_norm_whole(p->attr, x, true);
    p->out[0] = *x;
    p->saved = 2 * (size_t)ch.c * sizeof(cr_real);
    p->thread_scratch = cr_channel_low_scratch(&ch);
    if (p->thread_scratch < cr_channel_norm_thread_scratch(&norm))
        p->thread_scratch = cr_channel_norm_thread_scratch(&norm);
    /* two rows of c doubles and one double, five rows of c reals, and memory
     * for the sums */
    p->scratch = (size_t)ch.c * (5 * sizeof(cr_real) + 2 * sizeof(double)) +
                 sizeof(double) +
                 (size_t)cr_channel_thread_scratch(&ch) * sizeof(cr_real);
    if (cr_channel_norm_is_whole(&norm))
        p->scratch += 3 * (size_t)cr_count(x) * sizeof(cr_real);
    return true;
}

/* Layout of the scratch memory; doubles come first for alignment. */
struct scratch {
    double *sum, *dot;
    cr_real *a, *b, *c;
    cr_real *rest;
};

static struct scratch batch_norm_scratch(const struct cr_op_ctx *s, int64_t c)
{
    struct scratch r = { .sum = s->scratch };

    r.dot = r.sum + c;
    r.a = (cr_real *)(r.dot + c + 1);
    r.b = r.a + c;
    r.c = r.b + c;
    r.rest = r.c + c;
    return r;
}

/* Whether the process normalises its samples alone. */
static bool batch_norm_alone(const struct cr_op_ctx *s)
{
    const struct cr_batch_norm *o = s->attr;

    return !s->sum || (s->local && !o->sync);
}

/* Sums of several processes: of c values each in sum and dot, and of the
 * number of values per channel, which it returns. */
static double batch_norm_sum(const struct cr_op_ctx *s, struct scratch r,
                             int64_t c, double m)
{
    if (batch_norm_alone(s))
        return m;
    r.dot[c] = m;
    s->sum(r.sum, 2 * c + 1);
    return r.dot[c];
}

/* From mean and variance of the rows of this process to those of all rows.
 * Sums of squares are taken around the moving mean, which is close. */
static double batch_norm_join(const struct cr_op_ctx *s, struct scratch r,
                              int64_t c, double m)
{
    const cr_real *near = s->x[MEAN];
    int64_t i;

    if (batch_norm_alone(s))
        return m;
    for (i = 0; i < c; i++) {
        double off = r.sum[i] - (double)near[i];

        r.sum[i] = m * off;
        r.dot[i] = m * (r.dot[i] + off * off);
    }
    m = batch_norm_sum(s, r, c, m);
    for (i = 0; i < c; i++) {
        double off = r.sum[i] / m, variance = r.dot[i] / m - off * off;

        r.sum[i] = (double)near[i] + off;
        r.dot[i] = variance > 0 || isnan(variance) ? variance : 0;
    }
    return m;
}

/* What of a step has low precision; NULL: nothing. */
static const struct cr_channel_low *batch_norm_low(const struct cr_op_ctx *s,
                                                   struct cr_channel_low *low)
{
    *low = (struct cr_channel_low){
        .type = s->low,
        .x = s->two_bytes & CR_X(X),
        .y = s->two_bytes & CR_Y(0),
        .dy = s->grads_two_bytes & CR_Y(0),
        .dx = s->grads_two_bytes & CR_X(X),
        .rounds_y = s->rounds & CR_Y(0),
        .rounds_dx = s->rounds & CR_X(X),
    };
    return cr_low_any(s) ? low : NULL;
}

/* A kernel of the whole, where there is one: not for several processes and
 * what else is computed in the same step. Tensors in low precision are in
 * scratch then, as float32, and a dx that is added or not needed. */
static bool batch_norm_is_whole(const struct cr_op_ctx *s,
                                struct cr_channel_norm *norm)
{
    *norm = batch_norm_whole(s->attr, &s->in[X], s->training);
    norm->gamma = s->x[GAMMA];
    norm->beta = s->x[BETA];
    return batch_norm_alone(s) && s->in[MORE].rank <= 0 &&
           cr_channel_norm_is_whole(norm);
}

static void batch_norm_move(cr_real *to, double momentum, double value)
{
    *to = (cr_real)(momentum * (double)*to + (1 - momentum) * value);
}

static void batch_norm_forward(const struct cr_op_ctx *s)
{
    const struct cr_batch_norm *o = s->attr;
    struct cr_channels ch = cr_channels(&s->in[X]);
    struct scratch r = batch_norm_scratch(s, ch.c);
    const cr_real *gamma = s->x[GAMMA], *beta = s->x[BETA];
    cr_real *mean = s->saved, *rstd = mean + ch.c;
    struct cr_channel_map map = { .x = s->x[X],
                                  .more = s->x[MORE],
                                  .mean = mean,
                                  .scale = r.a,
                                  .shift = beta,
                                  .relu = s->end.act == CR_ACT_RELU,
                                  .map = s->end.map,
                                  .attr = s->end.attr,
                                  .y = s->y[0] };
    struct cr_channel_norm norm;
    struct cr_channel_low low;
    double m = (double)(ch.n * ch.s);
    bool whole = batch_norm_is_whole(s, &norm);
    int64_t i, n = cr_count(&s->in[X]);

    ch.low = batch_norm_low(s, &low);
    if (whole) {
        norm.x = cr_low_x(s, X, 0, n, r.rest);
        norm.y = cr_low_y_open(s, 0, r.rest + n);
        norm.mean = r.b;
        norm.variance = r.c;
    }
    if (whole && norm.batch) {
        cr_channel_norm(&norm);
        for (i = 0; i < ch.c; i++) {
            r.sum[i] = (double)r.b[i];
            r.dot[i] = (double)r.c[i];
        }
    } else if (batch_norm_batch(o, s->training) && !s->again) {
        cr_channel_moments(&ch, s->x[X], r.rest, r.sum, r.dot);
        m = batch_norm_join(s, r, ch.c, m);
    } else {
        for (i = 0; i < ch.c; i++) {
            r.sum[i] = (double)cr_creals(s->x[MEAN])[i];
            r.dot[i] = (double)cr_creals(s->x[VARIANCE])[i];
        }
    }
    for (i = 0; i < ch.c && !s->again; i++) {
        mean[i] = (cr_real)r.sum[i];
        rstd[i] = (cr_real)(1 / sqrt(r.dot[i] + o->eps));
    }
    for (i = 0; i < ch.c; i++)
        r.a[i] = gamma[i] * rstd[i];
    if (s->state[MEAN] && batch_norm_batch(o, s->training))
        for (i = 0; i < ch.c; i++)
            batch_norm_move(cr_reals(s->state[MEAN]) + i, o->momentum,
                            r.sum[i]);
    if (s->state[VARIANCE] && batch_norm_batch(o, s->training) && m > 1)
        for (i = 0; i < ch.c; i++)
            batch_norm_move(cr_reals(s->state[VARIANCE]) + i, o->momentum,
                            r.dot[i] * m / (m - 1));
    if (whole && !norm.batch) {
        for (i = 0; i < ch.c; i++) {
            r.b[i] = (cr_real)r.sum[i];
            r.c[i] = (cr_real)r.dot[i];
        }
        cr_channel_norm(&norm);
    }
    if (whole)
        cr_low_y_close(s, 0, n, norm.y);
    else
        cr_channel_map(&ch, &map, r.rest);
}

static void batch_norm_put(cr_real *to, bool add, double v)
{
    *to = (cr_real)(add ? (double)*to + v : v);
}

/* The same by a kernel of the whole. */
static void batch_norm_backward_whole(const struct cr_op_ctx *s,
                                      struct cr_channel_norm *norm)
{
    struct scratch r = batch_norm_scratch(s, norm->ch.c);
    const cr_real *rstd = cr_creals(s->saved) + norm->ch.c;
    int64_t n = cr_count(&s->in[X]), i;

    norm->mean = s->saved;
    norm->variance = r.a;
    norm->dgamma = r.b;
    norm->dbeta = r.c;
    norm->x = cr_low_x(s, X, 0, n, r.rest);
    norm->dy = cr_low_dy(s, 0, n, r.rest + n);
    norm->dx =
        s->dx[X] ? cr_low_dx_open(s, X, 0, r.rest + 2 * n) : r.rest + 2 * n;
    for (i = 0; i < norm->ch.c; i++)
        r.a[i] = 1 / (rstd[i] * rstd[i]);
    cr_channel_norm_backward(norm);
    if (s->dx[X])
        cr_low_dx_close(s, X, 0, n, norm->dx);
    for (i = 0; i < norm->ch.c && s->dx[GAMMA]; i++)
        batch_norm_put(cr_reals(s->dx[GAMMA]) + i, s->accumulate[GAMMA],
                       (double)r.b[i]);
    for (i = 0; i < norm->ch.c && s->dx[BETA]; i++)
        batch_norm_put(cr_reals(s->dx[BETA]) + i, s->accumulate[BETA],
                       (double)r.c[i]);
}

static void batch_norm_backward(const struct cr_op_ctx *s)
{
    const struct cr_batch_norm *o = s->attr;
    struct cr_channels ch = cr_channels(&s->in[X]);
    struct scratch r = batch_norm_scratch(s, ch.c);
    const cr_real *gamma = s->x[GAMMA], *mean = s->saved, *rstd = mean + ch.c;
    bool batch = batch_norm_batch(o, s->training);
    struct cr_channel_backward back = { .x = s->x[X],
                                        .dy = s->dy[0],
                                        .mean = mean,
                                        .scale = r.a,
                                        .shift = r.b,
                                        .slope = batch ? r.c : NULL,
                                        .dx = s->dx[X],
                                        .dmore = s->dx[MORE],
                                        .add_dx = s->accumulate[X],
                                        .add_more = s->accumulate[MORE] };
    struct cr_channel_norm norm;
    struct cr_channel_low low;
    double m = (double)(ch.n * ch.s);
    int64_t i;

    if (batch_norm_is_whole(s, &norm)) {
        batch_norm_backward_whole(s, &norm);
        return;
    }
    ch.low = batch_norm_low(s, &low);
    for (i = 0; i < ch.c; i++)
        r.a[i] = gamma[i] * rstd[i];
    back.mask = cr_channel_norm_mask(s, r.a, s->x[BETA]);
    if (s->dx[GAMMA] || s->dx[BETA] || (s->dx[X] && batch)) {
        /* what the gradient of a map leaves of dy is kept in dx */
        if (s->end_grad && s->dx[X] && !s->accumulate[X] && !low.dx)
            back.mask.d = s->dx[X];
        cr_channel_sums(&ch, s->x[X], mean, s->dy[0], &back.mask, r.rest, r.sum,
                        r.dot);
        if (back.mask.d) {
            back.dy = back.mask.d;
            low.dy = false;
            back.mask = (struct cr_channel_mask){ .y = NULL };
        }
    }
    for (i = 0; i < ch.c && s->dx[GAMMA]; i++)
        batch_norm_put(cr_reals(s->dx[GAMMA]) + i, s->accumulate[GAMMA],
                       r.dot[i] * (double)rstd[i]);
    for (i = 0; i < ch.c && s->dx[BETA]; i++)
        batch_norm_put(cr_reals(s->dx[BETA]) + i, s->accumulate[BETA],
                       r.sum[i]);
    if (s->dx[X] && batch)
        m = batch_norm_sum(s, r, ch.c, m);
    if (!s->dx[X] && !s->dx[MORE])
        return;
    for (i = 0; i < ch.c; i++) {
        double a = (double)r.a[i], rr = (double)rstd[i] * (double)rstd[i];

        r.b[i] = batch && s->dx[X] ? (cr_real)(a * r.sum[i] / m) : 0;
        r.c[i] = batch && s->dx[X] ? (cr_real)(a * rr * r.dot[i] / m) : 0;
    }
    cr_channel_backward(&ch, &back, r.rest);
}

static bool batch_norm_accepts(const struct cr_op_ctx *s, unsigned of,
                               unsigned parts)
{
    struct cr_channel_norm norm = batch_norm_whole(s->attr, &s->in[X], true);

    return !cr_channel_norm_is_whole(&norm) &&
           cr_channel_norm_accepts(s, of, parts);
}

static const char *batch_norm_kernel(const struct cr_op_ctx *s)
{
    struct cr_channel_norm norm = batch_norm_whole(s->attr, &s->in[X], true);

    return cr_channel_kernel_name(&norm);
}

static const struct cr_op_kernels batch_norm_kernels = { .name =
                                                             batch_norm_kernel,
                                                         .accepts =
                                                             batch_norm_accepts,
                                                         .addend = MORE,
                                                         .last = cr_last_too };

static bool batch_norm_fixed(const void *attr)
{
    const struct cr_batch_norm *o = attr;

    return o->use_batch_statistics != true;
}

static const char *const batch_norm_inputs[] = {
    "x", "gamma", "beta", "moving_mean", "moving_variance", "more", NULL
};

const struct cr_op cr_op_batch_norm = {
    .about = { .name = "batch_norm",
               .summary = "Batch normalisation.",
               .detail = "training: use the statistics of the batch instead of "
                         "the running ones. momentum is the weight of the "
                         "batch in running_mean and running_var, which "
                         "training updates if they are statistics of a cell.",
               .opts = cr_batch_norm_opts,
               .size = sizeof(struct cr_batch_norm) },
    .rows = CR_ROWS_FIRST,
    .min_inputs = 5,
    .max_inputs = 6,
    .outputs = 1,
    .inputs = batch_norm_inputs,
    .signature = "input_x, running_mean, running_var, weight, bias, "
                 "training=False, momentum=0.1, eps=1e-5",
    .text = "return batch_norm(input_x, weight, bias, running_mean, "
            "running_var, eps=eps, momentum=1 - momentum, "
            "use_batch_statistics=training)",
    .saved_for_backward = CR_X(X) | CR_X(GAMMA) | CR_X(BETA),
    .algebra.fold = "bn_fold",
    .algebra.fixed = batch_norm_fixed,
    .kernels = &batch_norm_kernels,
    .low = CR_X(X) | CR_Y(0),
    .running_stats = CR_X(MEAN) | CR_X(VARIANCE),
    .saved_again = true,
    .plan = batch_norm_plan,
    .forward = batch_norm_forward,
    .backward = batch_norm_backward,
};

/*
 * dropout_planes: y = x mask / keep, mask 1 with probability keep for each
 * plane (the axes after the first two), in training; y = x in prediction.  dx
 * = dy mask / keep.
 * Tompson et al., arXiv:1411.4280. The mask is a function of seed, cell, call,
 * update and plane.
 */
#include "graph/op.h"
#include "kernels/parallel_for.h"

struct dropout_planes {
    double p;
};

static const struct cr_opt dropout_planes_opts[] = {
    CR_REAL_DEFAULT(struct dropout_planes, p, 0.5, 0, 1,
                    "Probability that a channel is zeroed."),
    { 0 },
};

/* Number of planes: N C; for an input (C, L), its rows. */
static int64_t dropout_planes_count(const struct cr_spec *x)
{
    return x->rank > 2 ? x->dim[0] * x->dim[1] : x->dim[0];
}

static bool dropout_planes_plan(struct cr_op_plan *p)
{
    if (p->in[0].rank < 2)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "input: found %s, "
                        "expected (N, C, ...)",
                        cr_diag_format(p->arena, p->in));
    p->out[0] = p->in[0];
    p->same = !p->training || ((const struct dropout_planes *)p->attr)->p == 0;
    if (!p->same)
        p->saved = (size_t)dropout_planes_count(&p->in[0]) * sizeof(cr_real);
    return true;
}

/* Scales planes: from x to y, or from dy to dx. */
struct planes {
    const cr_real *from, *scale; /* 0 or 1 / keep per plane; NULL: all 1 */
    cr_real *to;
    bool add, last;
    int64_t c, size;
};

static struct planes dropout_planes_of(const struct cr_op_ctx *s)
{
    const struct cr_spec *x = &s->in[0];
    struct planes p = { .scale = s->saved,
                        .last = x->layout == CR_CHANNELS_LAST };

    p.c = x->rank > 2 ? x->dim[1] : 1;
    p.size = cr_count(x) / dropout_planes_count(x);
    return p;
}

/* Scales rows: planes, or pixels of c channels if channels are last. */
static void planes_range(void *ctx, int64_t from, int64_t to)
{
    const struct planes *p = ctx;
    int64_t row, i, n = p->last ? p->c : p->size;

    for (row = from; row < to; row++)
        for (i = 0; i < n; i++) {
            int64_t plane = p->last ? row / p->size * p->c + i : row;
            cr_real v = p->from[row * n + i];

            if (p->scale)
                v = p->scale[plane] > 0 ? v * p->scale[plane] : 0;
            p->to[row * n + i] = p->add ? p->to[row * n + i] + v : v;
        }
}

static void dropout_planes_run(struct planes *p, const struct cr_spec *x)
{
    int64_t n = p->last ? p->c : p->size;

    cr_parallel_for_coarse(cr_count(x) / n, (double)n, p, planes_range);
}

static void dropout_planes_forward(const struct cr_op_ctx *s)
{
    double keep = 1 - ((const struct dropout_planes *)s->attr)->p;
    struct planes p = dropout_planes_of(s);
    int64_t i, n = dropout_planes_count(&s->in[0]);
    /* planes of the batch before these */
    int64_t before = s->rows_before > 0 ? n / s->batch * s->rows_before : 0;
    uint64_t below = (uint64_t)(keep * 4294967296.0);

    for (i = 0; i < n && s->saved; i++)
        cr_reals(s->saved)[i] =
            cr_rng_u32(&s->rng, (uint64_t)(before + i)) < below
                ? (cr_real)(1 / keep)
                : 0;
    p.from = s->x[0];
    p.to = s->y[0];
    dropout_planes_run(&p, &s->in[0]);
}

static void dropout_planes_backward(const struct cr_op_ctx *s)
{
    struct planes p = dropout_planes_of(s);

    p.from = s->dy[0];
    p.to = s->dx[0];
    p.add = s->accumulate[0];
    dropout_planes_run(&p, &s->in[0]);
}

static const struct cr_op_kernels dropout_planes_kernels = {
    .last = cr_last_too
};

const struct cr_op cr_op_dropout_planes = {
    .about = { .name = "dropout_planes",
               .internal = true,
               .summary = "Channel dropout: zeroes whole channels at random in "
                          "training.",
               .opts = dropout_planes_opts,
               .size = sizeof(struct dropout_planes) },
    .rows = CR_ROWS_FIRST,
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .kernels = &dropout_planes_kernels,
    .plan = dropout_planes_plan,
    .forward = dropout_planes_forward,
    .bprop = "return again(dy)",
    .backward = dropout_planes_backward,
};

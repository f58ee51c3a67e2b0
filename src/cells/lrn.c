/*
 * LRN: y_c = x_c D_c^-beta,  D_c = bias + alpha sum of x_j^2 over the channels
 * j with |j - c| <= depth_radius, x (N, C, H, W).
 * dx_j = dy_j D_j^-beta - 2 alpha beta x_j sum of t_c over the same c,
 * t_c = dy_c x_c D_c^(-beta - 1).
 * Krizhevsky, Sutskever and Hinton, NIPS 2012; alpha multiplies the sum, not
 * the mean.
 */
#include "graph/cell.h"
#include "graph/op.h"
#include "kernels/parallel_for.h"

struct lrn {
    int64_t depth_radius;
    double bias, alpha, beta;
    int norm_region;
};

static bool lrn_plan(struct cr_op_plan *p)
{
    if (p->in[0].rank != 4)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "input: found %s, expected (N, C, H, W)",
                        cr_diag_format(p->arena, &p->in[0]));
    p->out[0] = p->in[0];
    p->saved = cr_bytes(&p->in[0]);   /* D */
    p->scratch = cr_bytes(&p->in[0]); /* t */
    return true;
}

/* Plane i is channel i % c of a sample; low and high bound its neighbours. */
struct planes {
    const struct cr_op_ctx *s;
    const struct lrn *o;
    int64_t c, size;
};

static struct planes lrn_planes(const struct cr_op_ctx *s)
{
    struct planes p = { s, s->attr, s->in[0].dim[1],
                        s->in[0].dim[2] * s->in[0].dim[3] };

    return p;
}

static void lrn_near(const struct planes *p, int64_t plane, int64_t *low,
                     int64_t *high)
{
    int64_t c = plane % p->c, r = p->o->depth_radius;

    *low = plane - (c < r ? c : r);
    *high = plane + (p->c - 1 - c < r ? p->c - 1 - c : r);
}

static void lrn_range(void *ctx, int64_t from, int64_t to)
{
    const struct planes *p = ctx;
    cr_real alpha = (cr_real)p->o->alpha, bias = (cr_real)p->o->bias;
    cr_real beta = (cr_real)p->o->beta;
    int64_t plane, j, i, low, high;

    for (plane = from; plane < to; plane++) {
        const cr_real *x = p->s->x[0];
        cr_real *d = cr_reals(p->s->saved) + plane * p->size;
        cr_real *y = cr_reals(p->s->y[0]) + plane * p->size;

        lrn_near(p, plane, &low, &high);
        for (i = 0; i < p->size; i++)
            d[i] = 0;
        for (j = low; j <= high; j++)
            for (i = 0; i < p->size; i++)
                d[i] += x[j * p->size + i] * x[j * p->size + i];
        for (i = 0; i < p->size; i++) {
            d[i] = bias + alpha * d[i];
            y[i] = x[plane * p->size + i] * cr_pow(d[i], -beta);
        }
    }
}

static void lrn_forward(const struct cr_op_ctx *s)
{
    struct planes p = lrn_planes(s);

    cr_parallel_for_coarse(cr_count(&s->in[0]) / p.size, 20 * (double)p.size,
                           &p, lrn_range);
}

static void lrn_part_range(void *ctx, int64_t from, int64_t to)
{
    const struct cr_op_ctx *s = ctx;
    const cr_real *x = s->x[0], *dy = s->dy[0], *d = s->saved;
    cr_real power = -1 - (cr_real)((const struct lrn *)s->attr)->beta;
    cr_real *t = s->scratch;
    int64_t i;

    for (i = from; i < to; i++)
        t[i] = dy[i] * x[i] * cr_pow(d[i], power);
}

static void lrn_back_range(void *ctx, int64_t from, int64_t to)
{
    const struct planes *p = ctx;
    const struct cr_op_ctx *s = p->s;
    cr_real beta = (cr_real)p->o->beta;
    cr_real twice = (cr_real)(2 * p->o->alpha * p->o->beta);
    const cr_real *x = s->x[0], *dy = s->dy[0], *d = s->saved, *t = s->scratch;
    cr_real *dx = s->dx[0];
    int64_t plane, j, i, low, high;

    for (plane = from; plane < to; plane++) {
        lrn_near(p, plane, &low, &high);
        for (i = plane * p->size; i < (plane + 1) * p->size; i++) {
            cr_real sum = 0, g;

            for (j = low - plane; j <= high - plane; j++)
                sum += t[i + j * p->size];
            g = dy[i] * cr_pow(d[i], -beta) - twice * x[i] * sum;
            dx[i] = s->accumulate[0] ? dx[i] + g : g;
        }
    }
}

static void lrn_backward(const struct cr_op_ctx *s)
{
    struct planes p = lrn_planes(s);

    cr_parallel_for(cr_count(&s->in[0]), 20, (void *)(uintptr_t)s,
                    lrn_part_range);
    cr_parallel_for_coarse(cr_count(&s->in[0]) / p.size, 30 * (double)p.size,
                           &p, lrn_back_range);
}

static const struct cr_opt lrn_opts[] = {
    CR_INT_DEFAULT(struct lrn, depth_radius, 5, 0, CR_DIM_MAX,
                   "Number of neighbouring channels on each side."),
    CR_REAL_DEFAULT(struct lrn, bias, 1, -1e30, 1e30,
                    "Constant added to the "
                    "sum of squares."),
    CR_REAL_DEFAULT(struct lrn, alpha, 1, -1e30, 1e30,
                    "Factor of the sum of "
                    "squares."),
    CR_REAL_DEFAULT(struct lrn, beta, 0.5, -1e30, 1e30, "Exponent."),
    CR_ENUM_DEFAULT(struct lrn, norm_region, 0, "ACROSS_CHANNELS",
                    "Region of the sum: the channels."),
    { 0 },
};

static const struct cr_op lrn_op = {
    .about = { .name = "lrn",
               .opts = lrn_opts,
               .size = sizeof(struct lrn) },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .saved_for_backward = CR_X(0),
    .plan = lrn_plan,
    .forward = lrn_forward,
    .backward = lrn_backward,
};

static struct cr_val *lrn_build(struct cr_build *b, struct cr_val *const *in)
{
    return CR_EMIT_OP(b, &lrn_op, cr_opts(b), in[0]);
}

const struct cr_cell cr_cell_lrn = {
    .about = {
        .name = "LRN",
        .summary = "LRN: local response normalisation across channels.",
        .detail = "Input (N, C, H, W). y_c = x_c / (bias + alpha sum "
                  "x_j^2)^beta over the channels j within depth_radius of c.",
        .example = "network: {norm: LRN, flatten: Flatten, fc: {Dense: [784, "
                   "10]}}\n",
        .opts = lrn_opts,
        .size = sizeof(struct lrn),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .build = lrn_build,
};

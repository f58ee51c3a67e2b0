/*
 * LRN: y_c = x_c D_c^-beta,  D_c = bias + alpha sum of x_j^2 over the channels
 * j with |j - c| <= depth_radius, x (N, C, H, W).
 * dx_j = dy_j D_j^-beta - 2 alpha beta x_j sum of t_c over the same c,
 * t_c = dy_c x_c D_c^(-beta - 1).
 * Krizhevsky, Sutskever and Hinton, NIPS 2012; alpha multiplies the sum, not
 * the mean.
 */
#include "base/compiler.h"
#include "graph/cell.h"
#include "graph/op.h"
#include "kernels/parallel_for.h"

#include <string.h>

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

#define STRETCH 512 /* numbers of a plane at a time */

/* to = d^-beta. The usual exponents need no power. */
CR_CLONES_WIDE static void lrn_powers(double beta, int64_t n, const cr_real *d,
                                      cr_real *to)
{
    int64_t i;

    if (beta == 0.5)
        CR_SIMD
        for (i = 0; i < n; i++)
            to[i] = 1 / cr_sqrt(d[i]);
    else if (beta == 0.75)
        CR_SIMD
        for (i = 0; i < n; i++)
            to[i] = 1 / (cr_sqrt(d[i]) * cr_sqrt(cr_sqrt(d[i])));
    else
        CR_SIMD
        for (i = 0; i < n; i++)
            to[i] = cr_pow(d[i], -(cr_real)beta);
}

CR_CLONES_WIDE static void lrn_add_squares(int64_t n, const cr_real *x,
                                           cr_real *to)
{
    int64_t i;

    CR_SIMD
    for (i = 0; i < n; i++)
        to[i] += x[i] * x[i];
}

static void lrn_range(void *ctx, int64_t from, int64_t to)
{
    const struct planes *p = ctx;
    cr_real alpha = (cr_real)p->o->alpha, bias = (cr_real)p->o->bias;
    int64_t plane, j, i, k, n, low, high;

    for (plane = from; plane < to; plane++)
        for (k = 0; k < p->size; k += n) {
            int64_t at = plane * p->size + k;
            const cr_real *x = (const cr_real *)p->s->x[0] + at;
            cr_real *d = cr_reals(p->s->saved) + at;
            cr_real *y = cr_reals(p->s->y[0]) + at;

            n = p->size - k < STRETCH ? p->size - k : STRETCH;
            lrn_near(p, plane, &low, &high);
            memset(d, 0, (size_t)n * sizeof *d);
            for (j = low - plane; j <= high - plane; j++)
                lrn_add_squares(n, x + j * p->size, d);
            for (i = 0; i < n; i++)
                d[i] = bias + alpha * d[i];
            lrn_powers(p->o->beta, n, d, y);
            for (i = 0; i < n; i++)
                y[i] *= x[i];
        }
}

static void lrn_forward(const struct cr_op_ctx *s)
{
    struct planes p = lrn_planes(s);

    cr_parallel_for_coarse(cr_count(&s->in[0]) / p.size, 5 * (double)p.size,
                           &p, lrn_range);
}

/* t, and D^-beta in the place of D. */
static void lrn_part_range(void *ctx, int64_t from, int64_t to)
{
    const struct cr_op_ctx *s = ctx;
    const cr_real *x = s->x[0], *dy = s->dy[0];
    double beta = ((const struct lrn *)s->attr)->beta;
    cr_real *t = s->scratch, *d = s->saved, power[STRETCH];
    int64_t i, n;

    for (; from < to; from += n) {
        n = to - from < STRETCH ? to - from : STRETCH;
        lrn_powers(beta, n, d + from, power);
        for (i = 0; i < n; i++) {
            t[from + i] = dy[from + i] * x[from + i] * power[i] / d[from + i];
            d[from + i] = power[i];
        }
    }
}

CR_CLONES static void lrn_add(int64_t n, const cr_real *x, cr_real *to)
{
    int64_t i;

    CR_SIMD
    for (i = 0; i < n; i++)
        to[i] += x[i];
}

static void lrn_back_range(void *ctx, int64_t from, int64_t to)
{
    const struct planes *p = ctx;
    const struct cr_op_ctx *s = p->s;
    cr_real twice = (cr_real)(2 * p->o->alpha * p->o->beta);
    cr_real sum[STRETCH], g;
    int64_t plane, j, i, k, n, low, high;

    for (plane = from; plane < to; plane++)
        for (k = 0; k < p->size; k += n) {
            int64_t at = plane * p->size + k;
            const cr_real *x = (const cr_real *)s->x[0] + at;
            const cr_real *dy = (const cr_real *)s->dy[0] + at;
            const cr_real *power = (const cr_real *)s->saved + at;
            const cr_real *t = (const cr_real *)s->scratch + at;
            cr_real *dx = (cr_real *)s->dx[0] + at;

            n = p->size - k < STRETCH ? p->size - k : STRETCH;
            lrn_near(p, plane, &low, &high);
            memset(sum, 0, sizeof sum);
            for (j = low - plane; j <= high - plane; j++)
                lrn_add(n, t + j * p->size, sum);
            for (i = 0; i < n; i++) {
                g = dy[i] * power[i] - twice * x[i] * sum[i];
                dx[i] = s->accumulate[0] ? dx[i] + g : g;
            }
        }
}

static void lrn_backward(const struct cr_op_ctx *s)
{
    struct planes p = lrn_planes(s);

    cr_parallel_for(cr_count(&s->in[0]), 3, (void *)(uintptr_t)s,
                    lrn_part_range);
    cr_parallel_for_coarse(cr_count(&s->in[0]) / p.size, 5 * (double)p.size,
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

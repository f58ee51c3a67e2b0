/* cumprod: y_c = x_0 ... x_c along an axis;  dx_c = x_0 ... x_(c-1) r_c
 * with r_c = dy_c + x_(c+1) r_(c+1), so that x_c may be 0 */
#include "families/axis.h"

#include "base/thread_pool.h"
#include "kernels/parallel_for.h"

struct cumprod {
    int64_t dim;
};

static const struct cr_opt cumprod_opts[] = {
    CR_INT(struct cumprod, dim, -CR_RANK_MAX, CR_RANK_MAX - 1, "Axis."),
    { 0 },
};

static bool cumprod_plan(struct cr_op_plan *p)
{
    int at;

    p->out[0] = p->in[0];
    if (!cr_axis_check(p, &p->in[0], ((const struct cumprod *)p->attr)->dim,
                       &at))
        return false;
    p->thread_scratch = (size_t)p->in[0].dim[at] * sizeof(double);
    return true;
}

struct lines {
    const struct cr_op_ctx *s;
    struct cr_axis a;
};

static struct lines cumprod_lines(const struct cr_op_ctx *s)
{
    int64_t dim = ((const struct cumprod *)s->attr)->dim;

    return (struct lines){ s, cr_axis_of(&s->in[0], dim) };
}

static void cumprod_range(void *ctx, int64_t from, int64_t to)
{
    const struct lines *l = ctx;
    const cr_real *x = l->s->x[0];
    cr_real *y = l->s->y[0];
    int64_t line, c;

    for (line = from; line < to; line++) {
        int64_t at = cr_axis_line(&l->a, line);
        double product = 1;

        for (c = 0; c < l->a.n; c++, at += l->a.inner) {
            product *= (double)x[at];
            y[at] = (cr_real)product;
        }
    }
}

static void cumprod_forward(const struct cr_op_ctx *s)
{
    struct lines l = cumprod_lines(s);

    cr_parallel_for(l.a.outer * l.a.inner, 1.5 * (double)l.a.n, &l,
                    cumprod_range);
}

static void cumprod_back_range(void *ctx, int64_t from, int64_t to)
{
    const struct lines *l = ctx;
    const cr_real *x = l->s->x[0], *dy = l->s->dy[0];
    cr_real *dx = l->s->dx[0];
    int64_t line, c, inner = l->a.inner;
    double *rest = cr_thread_scratch((size_t)l->a.n * sizeof *rest);

    for (line = from; line < to; line++) {
        int64_t at = cr_axis_line(&l->a, line);
        double before = 1, sum = 0; /* x_0 ... x_(c-1), r_c */

        for (c = l->a.n - 1; c >= 0; c--) {
            rest[c] = sum = (double)dy[at + c * inner] + sum;
            sum *= (double)x[at + c * inner];
        }
        for (c = 0; c < l->a.n; c++) {
            int64_t own = at + c * inner;
            cr_real d = before != 0 ? (cr_real)(before * rest[c]) : 0;

            before *= (double)x[own];
            dx[own] = (l->s->accumulate[0] ? dx[own] : 0) + d;
        }
    }
}

static void cumprod_backward(const struct cr_op_ctx *s)
{
    struct lines l = cumprod_lines(s);

    cr_parallel_for(l.a.outer * l.a.inner, 4 * (double)l.a.n, &l,
                    cumprod_back_range);
}

const struct cr_op cr_op_cumprod = {
    .about = { .name = "cumprod",
               .summary = "Cumulative product along an axis.",
               .opts = cumprod_opts,
               .size = sizeof(struct cumprod) },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .inputs = cr_input,
    .saved_for_backward = CR_X(0),
    .plan = cumprod_plan,
    .forward = cumprod_forward,
    .backward = cumprod_backward,
};

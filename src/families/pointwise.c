#include "families/pointwise.h"

#include "kernels/parallel_for.h"

#define STRETCH 256 /* elements that are added at a time */

struct pointwise {
    const struct cr_op_ctx *s;
    cr_map *f;
    cr_map_grad *back;
};

bool cr_pointwise_plan(struct cr_op_plan *p)
{
    p->out[0] = p->in[0];
    return true;
}

static void pointwise_range(void *ctx, int64_t from, int64_t to)
{
    const struct pointwise *p = ctx;

    p->f(p->s->attr, to - from, (const cr_real *)p->s->x[0] + from,
         (cr_real *)p->s->y[0] + from);
}

void cr_pointwise(const struct cr_op_ctx *s, double cost, cr_map *f)
{
    struct pointwise p = { .s = s, .f = f };

    cr_parallel_for(cr_count(&s->in[0]), cost, &p, pointwise_range);
}

static void back_range(void *ctx, int64_t from, int64_t to)
{
    const struct pointwise *p = ctx;
    const cr_real *x = p->s->x[0], *y = p->s->y[0], *dy = p->s->dy[0];
    cr_real *dx = p->s->dx[0], d[STRETCH];
    int64_t i, k, n;

    for (i = from; i < to; i += n) {
        n = p->s->accumulate[0] && to - i > STRETCH ? STRETCH : to - i;
        p->back(p->s->attr, n, x ? x + i : NULL, y ? y + i : NULL, dy + i,
                p->s->accumulate[0] ? d : dx + i);
        for (k = 0; k < n && p->s->accumulate[0]; k++)
            dx[i + k] += d[k];
    }
}

void cr_pointwise_backward(const struct cr_op_ctx *s, double cost,
                           cr_map_grad *f)
{
    struct pointwise p = { .s = s, .back = f };

    cr_parallel_for(cr_count(&s->in[0]), cost, &p, back_range);
}

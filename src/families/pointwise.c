#include "families/pointwise.h"

#include "families/low.h"
#include "kernels/parallel_for.h"

/* Numbers at a time in low precision: what is done once for each stretch, such
 * as finding the kernel, counts next to a short one. */
#define STRETCH (2 * CR_LOW_STRETCH)

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
    const struct cr_op_ctx *s = p->s;
    cr_real x[STRETCH], y[STRETCH], *v;
    int64_t i, n;

    for (i = from; i < to; i += n) {
        n = cr_low_any(s) && to - i > STRETCH ? STRETCH : to - i;
        v = cr_low_y_open(s, i, y);
        p->f(s->attr, n, cr_low_x(s, 0, i, n, x), v);
        cr_low_y_close(s, i, n, v);
    }
}

void cr_pointwise(const struct cr_op_ctx *s, double cost, cr_map *f)
{
    struct pointwise p = { .s = s, .f = f };

    cr_parallel_for(cr_count(&s->in[0]), cost, &p, pointwise_range);
}

static void back_range(void *ctx, int64_t from, int64_t to)
{
    const struct pointwise *p = ctx;
    const struct cr_op_ctx *s = p->s;
    bool whole = !s->accumulate[0] && !cr_low_any(s);
    cr_real x[STRETCH], y[STRETCH], dy[STRETCH], d[STRETCH], *v;
    int64_t i, n;

    for (i = from; i < to; i += n) {
        n = !whole && to - i > STRETCH ? STRETCH : to - i;
        v = cr_low_dx_open(s, 0, i, d);
        p->back(s->attr, n, cr_low_x(s, 0, i, n, x), cr_low_y(s, i, n, y),
                cr_low_dy(s, i, n, dy), v);
        cr_low_dx_close(s, 0, i, n, v);
    }
}

void cr_pointwise_backward(const struct cr_op_ctx *s, double cost,
                           cr_map_grad *f)
{
    struct pointwise p = { .s = s, .back = f };

    cr_parallel_for(cr_count(&s->in[0]), cost, &p, back_range);
}

static const char *kernel_name(CR_UNUSED const struct cr_op_ctx *s)
{
    return cr_exp_kernel()->head.name;
}

const struct cr_op_kernels cr_pointwise_kernels = { .name = kernel_name };

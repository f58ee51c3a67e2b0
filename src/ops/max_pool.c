/* max_pool: y = the maximum of each window, x (N, C, spatial); of equal
 * elements the first in row-major order; NaN wins.  dx = dy at the maximum.
 * Windows: families/pool.h. */
#include "families/low.h"
#include "families/pool.h"
#include "families/samples.h"

static bool max_pool_plan(struct cr_op_plan *p)
{
    struct cr_pool pool;

    if (!cr_pool_plan(p, &pool))
        return false;
    p->saved = (size_t)cr_count(&p->out[0]) * cr_pool_index(&pool);
    p->thread_scratch = cr_pool_max_thread_scratch(&pool);
    return true;
}

/* Bytes that are saved for a sample. */
static size_t max_pool_saved(const struct cr_op_ctx *s)
{
    struct cr_pool pool = cr_pool_of(s);
    int64_t n = s->out[0].dim[0];

    return n > 0 ? (size_t)(cr_count(&s->out[0]) / n) * cr_pool_index(&pool)
                 : 0;
}

/* Whether all of these take two bytes, and a kernel knows them. A maximum needs
 * no rounding, nor does its gradient where windows lie side by side, as those
 * of such kernels do. */
static bool max_pool_low(const struct cr_op_ctx *s, const struct cr_pool *pool,
                         unsigned which, unsigned all)
{
    return (which & all) == all && !s->end.map && cr_pool_max_has_low(pool);
}

static void max_pool_forward(const struct cr_op_ctx *s)
{
    struct cr_samples parts = { .inputs = 1,
                                .saved = max_pool_saved(s),
                                .run = max_pool_forward };
    struct cr_pool pool = cr_pool_of(s);

    if (max_pool_low(s, &pool, s->two_bytes, CR_X(0) | CR_Y(0))) {
        cr_pool_max_low(&pool, s->low, s->x[0], s->y[0], s->saved);
        return;
    }
    if (cr_low_any(s)) {
        cr_samples_forward(s, &parts);
        return;
    }
    cr_pool_max(&pool, s->x[0], s->y[0], s->saved);
}

static void max_pool_backward(const struct cr_op_ctx *s)
{
    struct cr_samples parts = { .inputs = 1,
                                .saved = max_pool_saved(s),
                                .run = max_pool_backward };
    struct cr_pool pool = cr_pool_of(s);

    if (max_pool_low(s, &pool, s->grads_two_bytes, CR_X(0)) &&
        (!s->y[0] || (s->two_bytes & CR_Y(0)))) {
        cr_pool_max_backward_low(&pool, s->low, s->dy[0],
                                 s->grads_two_bytes & CR_Y(0), s->saved,
                                 (const void *)s->y[0], s->dx[0]);
        return;
    }
    if (cr_low_any(s)) {
        cr_samples_backward(s, &parts);
        return;
    }
    cr_pool_max_backward(&pool, s->dy[0], s->saved, s->y[0],
                         s->accumulate[0], s->dx[0]);
}

static bool max_pool_accepts(const struct cr_op_ctx *s, unsigned of,
                             unsigned parts)
{
    (void)s;
    return of == CR_X(0) && !(parts & ~(unsigned)CR_END_MASK_Y);
}

static const char *max_pool_kernel(const struct cr_op_ctx *s)
{
    struct cr_pool pool = cr_pool_of(s);

    return cr_pool_max_kernel_name(&pool);
}

static const struct cr_op_kernels max_pool_kernels = {
    .name = max_pool_kernel,
    .accepts = max_pool_accepts,
    .last = cr_last_too,
};

const struct cr_op cr_op_max_pool = {
    .about = { .name = "max_pool",
               .summary = "Max pooling.",
               .opts = cr_pool_opts,
               .size = sizeof(struct cr_pool_opts) },
    .rows = CR_ROWS_FIRST,
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .inputs = cr_input,
    .kernels = &max_pool_kernels,
    .exact = true,
    .low = CR_X(0) | CR_Y(0),
    .low_scratch = cr_samples_scratch,
    .plan = max_pool_plan,
    .forward = max_pool_forward,
    .backward = max_pool_backward,
};

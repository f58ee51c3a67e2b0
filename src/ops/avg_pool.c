/* avg_pool: y = mean of each window, x (N, C, spatial);  dx = dy / m for its
 * m elements. Windows, and what m counts: families/pool.h. */
#include "families/low.h"
#include "families/pool.h"
#include "families/samples.h"

static bool avg_pool_plan(struct cr_op_plan *p)
{
    struct cr_pool pool;

    if (!cr_pool_plan(p, &pool))
        return false;
    p->thread_scratch = cr_pool_mean_thread_scratch(&pool);
    return true;
}

static void avg_pool_forward(const struct cr_op_ctx *s)
{
    struct cr_samples parts = { .inputs = 1, .run = avg_pool_forward };
    struct cr_pool pool = cr_pool_of(s);

    if (cr_low_any(s)) {
        cr_samples_forward(s, &parts);
        return;
    }
    cr_pool_mean(&pool, s->x[0], s->y[0]);
}

static void avg_pool_backward(const struct cr_op_ctx *s)
{
    struct cr_samples parts = { .inputs = 1, .run = avg_pool_backward };
    struct cr_pool pool = cr_pool_of(s);

    if (cr_low_any(s)) {
        cr_samples_backward(s, &parts);
        return;
    }
    cr_pool_mean_backward(&pool, s->dy[0], s->accumulate[0], s->dx[0]);
}

static const char *avg_pool_kernel(const struct cr_op_ctx *s)
{
    struct cr_pool pool = cr_pool_of(s);

    return cr_pool_mean_kernel_name(&pool);
}

static const struct cr_op_kernels avg_pool_kernels = {
    .name = avg_pool_kernel,
    .last = cr_last_too,
};

const struct cr_op cr_op_avg_pool = {
    .about = { .name = "avg_pool",
               .summary = "Average pooling.",
               .opts = cr_pool_opts,
               .size = sizeof(struct cr_pool_opts) },
    .rows = CR_ROWS_FIRST,
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .inputs = cr_input,
    .kernels = &avg_pool_kernels,
    .low = CR_X(0) | CR_Y(0),
    .low_scratch = cr_samples_scratch,
    .plan = avg_pool_plan,
    .forward = avg_pool_forward,
    .algebra.linear = CR_X(0),
    .backward = avg_pool_backward,
};

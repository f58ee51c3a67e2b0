/* avg_pool: y = mean of each window, x (N, C, spatial);  dx = dy / m for its
 * m elements. Windows, and what m counts: families/pool.h. */
#include "families/pool.h"

static bool avg_pool_plan(struct cr_op_plan *p)
{
    struct cr_pool pool;

    return cr_pool_plan(p, &pool);
}

static void avg_pool_forward(const struct cr_op_ctx *s)
{
    struct cr_pool pool = cr_pool_of(s);

    cr_pool_mean(&pool, s->x[0], s->y[0]);
}

static void avg_pool_backward(const struct cr_op_ctx *s)
{
    struct cr_pool pool = cr_pool_of(s);

    cr_pool_mean_backward(&pool, s->dy[0], s->accumulate[0], s->dx[0]);
}

const struct cr_op cr_op_avg_pool = {
    .about = { .name = "avg_pool",
               .summary = "Average pooling.",
               .opts = cr_pool_opts,
               .size = sizeof(struct cr_pool_opts) },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .inputs = cr_input,
    .layouts = CR_LAYOUT_LAST,
    .plan = avg_pool_plan,
    .forward = avg_pool_forward,
    .linear = CR_X(0),
    .backward = avg_pool_backward,
};

/* max_pool: y = the maximum of each window, x (N, C, spatial); of equal
 * elements the first in row-major order; NaN wins.  dx = dy at the maximum.
 * Windows: families/pool.h. */
#include "families/pool.h"

static bool max_pool_plan(struct cr_op_plan *p)
{
    struct cr_pool pool;

    if (!cr_pool_plan(p, &pool))
        return false;
    p->saved = (size_t)cr_count(&p->out[0]) * cr_pool_index(&pool);
    return true;
}

static void max_pool_forward(const struct cr_op_ctx *s)
{
    struct cr_pool pool = cr_pool_of(s);

    cr_pool_max(&pool, s->x[0], s->y[0], s->saved);
}

static void max_pool_backward(const struct cr_op_ctx *s)
{
    struct cr_pool pool = cr_pool_of(s);

    cr_pool_max_backward(&pool, s->dy[0], s->saved, s->mask[0],
                         s->accumulate[0], s->dx[0]);
}

const struct cr_op cr_op_max_pool = {
    .about = { .name = "max_pool",
               .summary = "Max pooling.",
               .opts = cr_pool_opts,
               .size = sizeof(struct cr_pool_opts) },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .inputs = cr_input,
    .masks = CR_X(0),
    .layouts = CR_LAYOUT_LAST,
    .amp = CR_AMP_EXACT,
    .plan = max_pool_plan,
    .forward = max_pool_forward,
    .backward = max_pool_backward,
};

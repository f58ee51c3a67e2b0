/* max_pool_indices: max_pool with a second output, int32: the index of each
 * maximum in its plane (h W + w). */
#include "families/pool.h"

static bool max_pool_indices_plan(struct cr_op_plan *p)
{
    struct cr_pool pool;

    if (!cr_pool_plan(p, &pool))
        return false;
    p->out[1] = p->out[0];
    p->out[1].type = CR_I32;
    p->saved = (size_t)cr_count(&p->out[0]) * cr_pool_index(&pool);
    p->thread_scratch = cr_pool_max_thread_scratch(&pool);
    return true;
}

static void max_pool_indices_forward(const struct cr_op_ctx *s)
{
    struct cr_pool pool = cr_pool_of(s);

    cr_pool_max(&pool, s->x[0], s->y[0], s->saved);
    cr_pool_places(&pool, s->saved, s->y[1]);
}

static void max_pool_indices_backward(const struct cr_op_ctx *s)
{
    struct cr_pool pool = cr_pool_of(s);

    cr_pool_max_backward(&pool, s->dy[0], s->saved, NULL, s->accumulate[0],
                         s->dx[0]);
}

const struct cr_op cr_op_max_pool_indices = {
    .about = { .name = "max_pool_indices",
               .internal = true,
               .summary = "Max pooling that also returns the indices of the "
                          "maxima.",
               .opts = cr_pool_opts,
               .size = sizeof(struct cr_pool_opts) },
    .rows = CR_ROWS_FIRST,
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 2,
    .plan = max_pool_indices_plan,
    .forward = max_pool_indices_forward,
    .backward = max_pool_indices_backward,
};

/* standard_normal: normally distributed values of mean 0, standard deviation
 * 1 */
#include "families/random.h"
#include "kernels/parallel_for.h"

static bool standard_normal_plan(struct cr_op_plan *p)
{
    const struct cr_shape_opt *o = p->attr;

    return cr_shape_plan(p, &o->shape, CR_REAL);
}

static void standard_normal_range(void *ctx, int64_t from, int64_t to)
{
    const struct cr_op_ctx *s = ctx;
    struct cr_draws d = cr_draws(s, &s->out[0]);
    int64_t i;

    for (i = from; i < to; i++)
        cr_reals(s->y[0])[i] =
            (cr_real)cr_rng_normal(&d.rng, d.first + (uint64_t)i);
}

static void standard_normal_forward(const struct cr_op_ctx *s)
{
    cr_parallel_for(cr_count(&s->out[0]), 50, (void *)(uintptr_t)s,
                    standard_normal_range);
}

const struct cr_op cr_op_standard_normal = {
    .about = { .name = "standard_normal",
               .summary = "Random numbers of the standard normal distribution.",
               .opts = cr_shape_opts,
               .size = sizeof(struct cr_shape_opt) },
    .rows = CR_ROWS_FIRST,
    .outputs = 1,
    .signature = "shape",
    .draws = true,
    .plan = standard_normal_plan,
    .forward = standard_normal_forward,
};

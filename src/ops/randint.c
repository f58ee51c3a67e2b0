/* randint: uniform integers, low <= y < high */
#include "families/random.h"
#include "kernels/parallel_for.h"

struct randint {
    int64_t low, high;
    struct cr_ints size;
};

static const struct cr_opt randint_opts[] = {
    CR_INT(struct randint, low, INT32_MIN, INT32_MAX, "Minimum."),
    CR_INT(struct randint, high, INT32_MIN, INT32_MAX + (int64_t)1,
           "Exclusive maximum."),
    CR_INTS_OPTIONAL(struct randint, size, 1, CR_DIM_MAX,
                     "Shape; () for a scalar."),
    { 0 },
};

static bool randint_plan(struct cr_op_plan *p)
{
    const struct randint *o = p->attr;

    if (o->low >= o->high)
        return cr_error(p->diag, p->pos, CR_E_OUT_OF_RANGE,
                        "randint: found low %lld and high %lld, expected low "
                        "below high",
                        (long long)o->low, (long long)o->high);
    return cr_shape_plan(p, &o->size, CR_I32);
}

static void randint_range(void *ctx, int64_t from, int64_t to)
{
    const struct cr_op_ctx *s = ctx;
    const struct randint *o = s->attr;
    struct cr_draws d = cr_draws(s, &s->out[0]);
    int32_t *y = s->y[0];
    int64_t i;

    for (i = from; i < to; i++)
        y[i] = (int32_t)(o->low +
                         (int64_t)cr_rng_below(&d.rng, d.first + (uint64_t)i,
                                               (uint64_t)(o->high - o->low)));
}

static void randint_forward(const struct cr_op_ctx *s)
{
    cr_parallel_for(cr_count(&s->out[0]), 20, (void *)(uintptr_t)s,
                    randint_range);
}

const struct cr_op cr_op_randint = {
    .about = { .name = "randint",
               .summary = "Random integers, uniform in [low, high).",
               .opts = randint_opts,
               .size = sizeof(struct randint) },
    .rows = CR_ROWS_FIRST,
    .outputs = 1,
    .signature = "low, high, size",
    .draws = true,
    .plan = randint_plan,
    .forward = randint_forward,
};

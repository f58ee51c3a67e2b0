/* uniform: values in [0, 1) of 24 bits; the op's script scales them to
 * [minval, maxval), so the bounds get gradients */
#include "families/random.h"
#include "kernels/parallel_for.h"

#define RUN 1024 /* elements per call of the generator */

static bool uniform_plan(struct cr_op_plan *p)
{
    const struct cr_shape_opt *o = p->attr;

    return cr_shape_plan(p, &o->shape, CR_REAL);
}

static void uniform_range(void *ctx, int64_t from, int64_t to)
{
    const struct cr_op_ctx *s = ctx;
    struct cr_draws d = cr_draws(s, &s->out[0]);
    cr_real *y = s->y[0];
    uint32_t word[RUN + 8];
    int64_t i, n;

    for (; from < to; from += n) {
        uint64_t at = d.first + (uint64_t)from;

        n = to - from < RUN ? to - from : RUN;
        cr_rng_blocks(&d.rng, at / 4, (n + (int64_t)(at % 4) + 3) / 4, word);
        for (i = 0; i < n; i++)
            y[from + i] =
                (cr_real)(word[(int64_t)(at % 4) + i] >> 8) / 16777216;
    }
}

static void uniform_forward(const struct cr_op_ctx *s)
{
    cr_parallel_for(cr_count(&s->out[0]), 2, (void *)(uintptr_t)s,
                    uniform_range);
}

const struct cr_op cr_op_uniform = {
    .about = { .name = "uniform",
               .summary = "Random numbers, uniform in [minval, maxval).",
               .detail = "Gradients flow to minval and maxval, as in "
                         "MindSpore. With dtype int32: integers, as randint "
                         "gives.",
               .opts = cr_shape_opts,
               .size = sizeof(struct cr_shape_opt) },
    .rows = CR_ROWS_FIRST,
    .outputs = 1,
    .signature = "shape, minval, maxval, *, dtype='float32'",
    .text = "if dtype == 'int32':\n"
            "    return randint(minval, maxval, shape)\n"
            "return minval + (maxval - minval) * uniform(shape)",
    .draws = true,
    .plan = uniform_plan,
    .forward = uniform_forward,
};

/*
 * RReLU: y = x where x >= 0, else a x, with a sampled uniformly from [lower,
 * upper) for each element, in prediction, too, as in MindSpore;  dx = dy or a
 * dy. a is a function of seed, cell, call, update and element. Xu et al.,
 * arXiv:1505.00853.
 */
#include "graph/cell.h"
#include "graph/op.h"
#include "kernels/parallel_for.h"

struct rrelu {
    double lower, upper;
};

static bool rrelu_plan(struct cr_op_plan *p)
{
    p->out[0] = p->in[0];
    p->saved = cr_bytes(&p->in[0]); /* a, or 1 where x >= 0 */
    return true;
}

static void rrelu_range(void *ctx, int64_t from, int64_t to)
{
    const struct cr_op_ctx *s = ctx;
    const struct rrelu *o = s->attr;
    const cr_real *x = s->x[0];
    cr_real *y = s->y[0], *a = s->saved;
    uint32_t word[4];
    int64_t i;

    for (i = from; i < to; i++) { /* ranges start at multiples of 16 */
        if (i % 4 == 0)
            cr_rng_block(&s->rng, (uint64_t)i / 4, word);
        a[i] = x[i] < 0 ? (cr_real)(o->lower + (o->upper - o->lower) *
                                                   word[i % 4] / 4294967296.0)
                        : 1;
        y[i] = a[i] * x[i];
    }
}

static void rrelu_forward(const struct cr_op_ctx *s)
{
    cr_parallel_for(cr_count(&s->in[0]), 5, (void *)(uintptr_t)s, rrelu_range);
}

static void rrelu_back_range(void *ctx, int64_t from, int64_t to)
{
    const struct cr_op_ctx *s = ctx;
    const cr_real *dy = s->dy[0], *a = s->saved;
    cr_real *dx = s->dx[0];
    int64_t i;

    for (i = from; i < to; i++)
        dx[i] = s->accumulate[0] ? dx[i] + a[i] * dy[i] : a[i] * dy[i];
}

static void rrelu_backward(const struct cr_op_ctx *s)
{
    cr_parallel_for(cr_count(&s->in[0]), 1, (void *)(uintptr_t)s,
                    rrelu_back_range);
}

static const struct cr_op rrelu_op = {
    .about = { .name = "rrelu" },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .plan = rrelu_plan,
    .forward = rrelu_forward,
    .backward = rrelu_backward,
};

static const struct cr_opt rrelu_opts[] = {
    CR_REAL_DEFAULT(struct rrelu, lower, 0.125, -1e30, 1e30,
                    "Minimum slope for negative x."),
    CR_REAL_DEFAULT(struct rrelu, upper, 1.0 / 3, -1e30, 1e30,
                    "Maximum slope for negative x."),
    { 0 },
};

static bool rrelu_check(struct cr_diag *diag, struct cr_pos pos,
                        const void *opts)
{
    const struct rrelu *o = opts;

    return o->lower <= o->upper ||
           cr_error(diag, pos, CR_E_OUT_OF_RANGE,
                    "RReLU: found lower above upper, expected it below or "
                    "equal");
}

static struct cr_val *rrelu_build(struct cr_build *b, struct cr_val *const *in)
{
    return CR_EMIT_OP(b, &rrelu_op, cr_opts(b), in[0]);
}

const struct cr_cell cr_cell_rrelu = {
    .about = {
        .name = "RReLU",
        .summary = "RReLU, randomised leaky ReLU: x if x >= 0, else a random "
                   "slope times x.",
        .detail = "Any shape. The slopes are random in prediction too, as in "
                  "MindSpore.",
        .example = "network: [Flatten, {Dense: [784, 10]}, RReLU]\n",
        .opts = rrelu_opts,
        .size = sizeof(struct rrelu),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .check = rrelu_check,
    .activation = "rrelu",
    .build = rrelu_build,
};

#include "families/minmax.h"

bool cr_minmax_plan(struct cr_op_plan *p)
{
    if (!cr_reduce_attr_plan(p))
        return false;
    p->scratch = sizeof(cr_real) * (size_t)cr_count(&p->out[0]);
    return true;
}

/* How often the result occurs; NaN equals NaN here. */
static bool is_it(cr_real x, cr_real y)
{
    return x == y || (x != x && y != y);
}

static void extreme_values(const void *attr, int64_t n, const cr_real *x,
                           const cr_real *y, int64_t inc, cr_real *to)
{
    int64_t i;

    (void)attr;
    if (inc) {
        CR_SIMD
        for (i = 0; i < n; i++)
            to[i] = is_it(x[i], y[i]) ? 1 : 0;
    } else {
        CR_SIMD
        for (i = 0; i < n; i++)
            to[i] = is_it(x[i], y[0]) ? 1 : 0;
    }
}

CR_REDUCTION_LOOP(extreme_loop, is_it(x[i], y[j]) ? g[j] / c[j] : 0)

void cr_minmax_backward(const struct cr_op_ctx *s)
{
    cr_reduction_sums(s, cr_reduce_attr_axis(s), &cr_reducer_sum, 1, s->y[0],
                      extreme_values, s->scratch);
    cr_reduction_backward(s, cr_reduce_attr_axis(s), 1, s->scratch,
                          extreme_loop);
}

/* prod: y = the product of x along axes; dx = dy times the product of all
 * other elements: y / x unless x is 0 */
#include "families/reduction.h"

static double prod_one(double product, double v)
{
    return product * v;
}

static const struct cr_reducer prod_times = { .start = 1, .one = prod_one };

CR_REDUCE(prod, .reducer = &prod_times, .cost = 2)

static bool prod_plan(struct cr_op_plan *p)
{
    if (!cr_reduce_attr_plan(p))
        return false;
    p->scratch = 2 * sizeof(cr_real) * (size_t)cr_count(&p->out[0]);
    return true;
}

static void prod_zeros(const void *attr, int64_t n, const cr_real *x,
                       const cr_real *y, int64_t inc, cr_real *to)
{
    int64_t i;

    (void)attr, (void)y, (void)inc;
    for (i = 0; i < n; i++)
        to[i] = x[i] == 0 ? 1 : 0;
}

static void prod_others(const void *attr, int64_t n, const cr_real *x,
                        const cr_real *y, int64_t inc, cr_real *to)
{
    int64_t i;

    (void)attr, (void)y, (void)inc;
    for (i = 0; i < n; i++)
        to[i] = x[i] == 0 ? 1 : x[i];
}

/* c: the product of the nonzero elements; 0 if there are two or more zeros */
CR_REDUCTION_LOOP(prod_loop, x[i] == 0   ? g[j] * c[j]
                             : y[j] == 0 ? 0
                                         : g[j] * y[j] / x[i])

static void prod_backward(const struct cr_op_ctx *s)
{
    const struct cr_ints *axis = cr_reduce_attr_axis(s);
    int64_t i, n = cr_count(&s->out[0]);
    cr_real *others = s->scratch, *zeros = others + n;

    cr_reduction_sums(s, axis, &prod_times, 2, NULL, prod_others, others);
    cr_reduction_sums(s, axis, &cr_reducer_sum, 1, NULL, prod_zeros, zeros);
    for (i = 0; i < n; i++)
        others[i] = zeros[i] > 1 ? 0 : others[i];
    cr_reduction_backward(s, axis, 1, others, prod_loop);
}

const struct cr_op cr_op_prod = {
    CR_REDUCE_OP("prod", "Product along axes."),
    .int_inputs = CR_X(0),
    .saved_for_backward = CR_X(0) | CR_Y(0),
    .plan = prod_plan,
    .forward = prod_forward,
    .backward = prod_backward,
};

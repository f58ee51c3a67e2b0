/* sigmoid: y = 1 / (1 + exp(-x));  dx = dy y (1 - y) */
#include "base/attr.h"
#include "net/pointwise.h"

CR_CLONES static void sigmoid_map(const void *attr, int64_t n, const cr_real *x,
                                  cr_real *y)
{
    int64_t i;

    (void)attr;
    CR_SIMD
    for (i = 0; i < n; i++)
        y[i] = 1 / (1 + cr_exp(-x[i]));
}

static void sigmoid_forward(const struct cr_step *s)
{
    cr_pointwise(s, 1, sigmoid_map);
}

CR_CLONES static void sigmoid_back(const void *attr, int64_t n,
                                   const cr_real *x, const cr_real *y,
                                   const cr_real *dy, cr_real *d)
{
    int64_t i;

    (void)attr;
    (void)x;
    CR_SIMD
    for (i = 0; i < n; i++)
        d[i] = dy[i] * y[i] * (1 - y[i]);
}

static void sigmoid_backward(const struct cr_step *s)
{
    cr_pointwise_back(s, 0.5, sigmoid_back);
}

const struct cr_op cr_op_sigmoid = {
    .about = { .name = "sigmoid", .summary = "1 / (1 + exp(-x))." },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .inputs = cr_input,
    .function = true,
    .layouts = CR_LAYOUT_FLAT,
    .reads = CR_Y(0),
    .plan = cr_pointwise_plan,
    .forward = sigmoid_forward,
    .backward = sigmoid_backward,
};

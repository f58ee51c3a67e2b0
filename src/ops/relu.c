/* relu: y = max(x, 0);  dx = dy where y > 0.  NaN passes, so that nothing
 * hides it. */
#include "base/attr.h"
#include "net/pointwise.h"

CR_CLONES static void relu_map(const void *attr, int64_t n, const cr_real *x,
                               cr_real *y)
{
    int64_t i;

    (void)attr;
    CR_SIMD
    for (i = 0; i < n; i++)
        y[i] = x[i] < 0 ? 0 : x[i];
}

static void relu_forward(const struct cr_step *s)
{
    cr_pointwise(s, 0.3, relu_map);
}

CR_CLONES static void relu_back(const void *attr, int64_t n, const cr_real *x,
                                const cr_real *y, const cr_real *dy, cr_real *d)
{
    int64_t i;

    (void)attr;
    (void)x;
    CR_SIMD
    for (i = 0; i < n; i++)
        d[i] = y[i] <= 0 ? 0 : dy[i];
}

static void relu_backward(const struct cr_step *s)
{
    cr_pointwise_back(s, 0.5, relu_back);
}

const struct cr_op cr_op_relu = {
    .about = { .name = "relu", .summary = "max(x, 0)." },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .inputs = cr_input,
    .function = true,
    .layouts = CR_LAYOUT_FLAT,
    .reads = CR_Y(0),
    .act = CR_ACT_RELU,
    .amp = CR_AMP_WHITE | CR_AMP_EXACT,
    .plan = cr_pointwise_plan,
    .forward = relu_forward,
    .backward = relu_backward,
};

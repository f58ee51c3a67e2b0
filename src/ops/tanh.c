/* tanh: y = tanh(x);  dx = dy (1 - y^2) */
#include "base/attr.h"
#include "net/pointwise.h"

CR_CLONES static void tanh_map(const void *attr, int64_t n, const cr_real *x,
                               cr_real *y)
{
    int64_t i;

    (void)attr;
    CR_SIMD
    for (i = 0; i < n; i++)
        y[i] = cr_tanh(x[i]);
}

static void tanh_forward(const struct cr_step *s)
{
    cr_pointwise(s, 1, tanh_map);
}

CR_CLONES static void tanh_back(const void *attr, int64_t n, const cr_real *x,
                                const cr_real *y, const cr_real *dy, cr_real *d)
{
    int64_t i;

    (void)attr;
    (void)x;
    CR_SIMD
    for (i = 0; i < n; i++)
        d[i] = dy[i] * (1 - y[i] * y[i]);
}

static void tanh_backward(const struct cr_step *s)
{
    cr_pointwise_back(s, 0.5, tanh_back);
}

const struct cr_op cr_op_tanh = {
    .about = { .name = "tanh", .summary = "Hyperbolic tangent." },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .inputs = cr_input,
    .function = true,
    .layouts = CR_LAYOUT_FLAT,
    .reads = CR_Y(0),
    .amp = CR_AMP_HIGH,
    .plan = cr_pointwise_plan,
    .forward = tanh_forward,
    .backward = tanh_backward,
};

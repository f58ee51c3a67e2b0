/* ReLU6: y = min(max(x, 0), 6);  dx = dy where 0 < x <= 6. */
#include "base/attr.h"
#include "net/cell.h"
#include "net/pointwise.h"

CR_CLONES
static void relu6_map(const void *attr, int64_t n, const cr_real *x, cr_real *y)
{
    int64_t i;

    (void)attr;
    CR_SIMD
    for (i = 0; i < n; i++) {
        cr_real v = x[i];

        y[i] = v < 0 ? 0 : v > 6 ? 6 : v;
    }
}

static void relu6_forward(const struct cr_step *s)
{
    cr_pointwise(s, 0.3, relu6_map);
}

CR_CLONES
static void relu6_back(const void *attr, int64_t n, const cr_real *x,
                       const cr_real *y, const cr_real *dy, cr_real *d)
{
    int64_t i;

    (void)attr;
    (void)y;
    CR_SIMD
    for (i = 0; i < n; i++) {
        cr_real v = x[i], g = dy[i];

        d[i] = v > 0 && v <= 6 ? g : 0;
    }
}

static void relu6_backward(const struct cr_step *s)
{
    cr_pointwise_back(s, 0.5, relu6_back);
}

static const struct cr_op relu6_op = {
    .about = { .name = "relu6" },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .reads = CR_X(0),
    .layouts = CR_LAYOUT_FLAT,
    .plan = cr_pointwise_plan,
    .forward = relu6_forward,
    .backward = relu6_backward,
};

static struct cr_val *relu6_build(struct cr_build *b, struct cr_val *const *in)
{
    return CR_EMIT_OP(b, &relu6_op, NULL, in[0]);
}

const struct cr_cell cr_cell_relu6 = {
    .about = {
        .name = "ReLU6",
        .summary = "min(max(x, 0), 6).",
        .detail = "Any shape.",
        .example = "network: [Flatten, {Dense: [784, 10]}, ReLU6]\n",
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .activation = "relu6",
    .build = relu6_build,
};

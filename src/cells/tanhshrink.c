/* Tanhshrink: y = x - tanh(x);  dx = dy tanh(x)^2. */
#include "base/attr.h"
#include "net/cell.h"
#include "net/pointwise.h"

CR_CLONES
static void tanhshrink_map(const void *attr, int64_t n, const cr_real *x,
                           cr_real *y)
{
    int64_t i;

    (void)attr;
    CR_SIMD
    for (i = 0; i < n; i++) {
        cr_real v = x[i];

        y[i] = v - cr_tanh(v);
    }
}

static void tanhshrink_forward(const struct cr_step *s)
{
    cr_pointwise(s, 2, tanhshrink_map);
}

CR_CLONES
static void tanhshrink_back(const void *attr, int64_t n, const cr_real *x,
                            const cr_real *y, const cr_real *dy, cr_real *d)
{
    int64_t i;

    (void)attr;
    (void)y;
    CR_SIMD
    for (i = 0; i < n; i++) {
        cr_real v = x[i], g = dy[i];

        d[i] = g * cr_tanh(v) * cr_tanh(v);
    }
}

static void tanhshrink_backward(const struct cr_step *s)
{
    cr_pointwise_back(s, 2, tanhshrink_back);
}

static const struct cr_op tanhshrink_op = {
    .about = { .name = "tanhshrink" },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .reads = CR_X(0),
    .layouts = CR_LAYOUT_FLAT,
    .plan = cr_pointwise_plan,
    .forward = tanhshrink_forward,
    .backward = tanhshrink_backward,
};

static struct cr_val *tanhshrink_build(struct cr_build *b,
                                       struct cr_val *const *in)
{
    return CR_EMIT_OP(b, &tanhshrink_op, NULL, in[0]);
}

const struct cr_cell cr_cell_tanhshrink = {
    .about = {
        .name = "Tanhshrink",
        .summary = "x - tanh(x).",
        .detail = "Any shape.",
        .example = "network: [Flatten, {Dense: [784, 10]}, Tanhshrink]\n",
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .activation = "tanhshrink",
    .build = tanhshrink_build,
};

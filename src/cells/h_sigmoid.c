/* HSigmoid: y = min(max((x + 3) / 6, 0), 1);  dx = dy / 6 where -3 < x < 3. */
#include "base/attr.h"
#include "net/cell.h"
#include "net/pointwise.h"

CR_CLONES
static void h_sigmoid_map(const void *attr, int64_t n, const cr_real *x,
                          cr_real *y)
{
    int64_t i;

    (void)attr;
    CR_SIMD
    for (i = 0; i < n; i++) {
        cr_real v = x[i];

        y[i] = v < -3 ? 0 : v > 3 ? 1 : (v + 3) / 6;
    }
}

static void h_sigmoid_forward(const struct cr_step *s)
{
    cr_pointwise(s, 0.3, h_sigmoid_map);
}

CR_CLONES
static void h_sigmoid_back(const void *attr, int64_t n, const cr_real *x,
                           const cr_real *y, const cr_real *dy, cr_real *d)
{
    int64_t i;

    (void)attr;
    (void)y;
    CR_SIMD
    for (i = 0; i < n; i++) {
        cr_real v = x[i], g = dy[i];

        d[i] = v > -3 && v < 3 ? g / 6 : 0;
    }
}

static void h_sigmoid_backward(const struct cr_step *s)
{
    cr_pointwise_back(s, 0.5, h_sigmoid_back);
}

static const struct cr_op h_sigmoid_op = {
    .about = { .name = "h_sigmoid" },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .reads = CR_X(0),
    .layouts = CR_LAYOUT_FLAT,
    .plan = cr_pointwise_plan,
    .forward = h_sigmoid_forward,
    .backward = h_sigmoid_backward,
};

static struct cr_val *h_sigmoid_build(struct cr_build *b,
                                      struct cr_val *const *in)
{
    return CR_EMIT_OP(b, &h_sigmoid_op, NULL, in[0]);
}

const struct cr_cell cr_cell_h_sigmoid = {
    .about = {
        .name = "HSigmoid",
        .summary = "min(max((x + 3) / 6, 0), 1).",
        .detail = "Any shape.",
        .example = "network: [Flatten, {Dense: [784, 10]}, HSigmoid]\n",
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .activation = "hsigmoid",
    .build = h_sigmoid_build,
};

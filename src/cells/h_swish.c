/* HSwish: y = x min(max(x + 3, 0), 6) / 6;  dx = dy (2 x + 3) / 6 where
 * -3 <= x <= 3, 0 below, dy above. Howard et al., arXiv:1905.02244. */
#include "base/attr.h"
#include "net/cell.h"
#include "net/pointwise.h"

CR_CLONES
static void h_swish_map(const void *attr, int64_t n, const cr_real *x,
                        cr_real *y)
{
    int64_t i;

    (void)attr;
    CR_SIMD
    for (i = 0; i < n; i++) {
        cr_real v = x[i];

        y[i] = v < -3 ? 0 : v > 3 ? v : v * (v + 3) / 6;
    }
}

static void h_swish_forward(const struct cr_step *s)
{
    cr_pointwise(s, 0.3, h_swish_map);
}

CR_CLONES
static void h_swish_back(const void *attr, int64_t n, const cr_real *x,
                         const cr_real *y, const cr_real *dy, cr_real *d)
{
    int64_t i;

    (void)attr;
    (void)y;
    CR_SIMD
    for (i = 0; i < n; i++) {
        cr_real v = x[i], g = dy[i];

        d[i] = v < -3 ? 0 : v > 3 ? g : g * (2 * v + 3) / 6;
    }
}

static void h_swish_backward(const struct cr_step *s)
{
    cr_pointwise_back(s, 0.5, h_swish_back);
}

static const struct cr_op h_swish_op = {
    .about = { .name = "h_swish" },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .reads = CR_X(0),
    .layouts = CR_LAYOUT_FLAT,
    .plan = cr_pointwise_plan,
    .forward = h_swish_forward,
    .backward = h_swish_backward,
};

static struct cr_val *h_swish_build(struct cr_build *b,
                                    struct cr_val *const *in)
{
    return CR_EMIT_OP(b, &h_swish_op, NULL, in[0]);
}

const struct cr_cell cr_cell_h_swish = {
    .about = {
        .name = "HSwish",
        .summary = "x min(max(x + 3, 0), 6) / 6.",
        .detail = "Any shape.",
        .example = "network: [Flatten, {Dense: [784, 10]}, HSwish]\n",
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .activation = "hswish",
    .build = h_swish_build,
};

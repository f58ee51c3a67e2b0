/* FastGelu: y = x exp(0.851 (x - a)) / (1 + exp(-1.702 a)),  a = |x|; that is
 * x s with s = 1 / (1 + exp(-1.702 x));  dx = dy (s + 1.702 x s (1 - s)).
 * Hendrycks and Gimpel, arXiv:1606.08415. */
#include "base/attr.h"
#include "net/cell.h"
#include "net/pointwise.h"

#define SLOPE ((cr_real)1.702)

/* Without overflow on either side. */
CR_INLINE cr_real fast_gelu_s(cr_real x)
{
    cr_real e = cr_exp(x < 0 ? SLOPE * x : -SLOPE * x);

    return x < 0 ? e / (1 + e) : 1 / (1 + e);
}

CR_CLONES
static void fast_gelu_map(const void *attr, int64_t n, const cr_real *x,
                          cr_real *y)
{
    int64_t i;

    (void)attr;
    CR_SIMD
    for (i = 0; i < n; i++) {
        cr_real v = x[i];

        y[i] = v * fast_gelu_s(v);
    }
}

static void fast_gelu_forward(const struct cr_step *s)
{
    cr_pointwise(s, 1.5, fast_gelu_map);
}

CR_CLONES
static void fast_gelu_back(const void *attr, int64_t n, const cr_real *x,
                           const cr_real *y, const cr_real *dy, cr_real *d)
{
    int64_t i;

    (void)attr;
    (void)y;
    CR_SIMD
    for (i = 0; i < n; i++) {
        cr_real v = x[i], g = dy[i];

        d[i] = g * (fast_gelu_s(v) *
                    (1 + SLOPE * v * (1 - fast_gelu_s(v))));
    }
}

static void fast_gelu_backward(const struct cr_step *s)
{
    cr_pointwise_back(s, 2, fast_gelu_back);
}

static const struct cr_op fast_gelu_op = {
    .about = { .name = "fast_gelu" },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .reads = CR_X(0),
    .layouts = CR_LAYOUT_FLAT,
    .plan = cr_pointwise_plan,
    .forward = fast_gelu_forward,
    .backward = fast_gelu_backward,
};

static struct cr_val *fast_gelu_build(struct cr_build *b,
                                      struct cr_val *const *in)
{
    return CR_EMIT_OP(b, &fast_gelu_op, NULL, in[0]);
}

const struct cr_cell cr_cell_fast_gelu = {
    .about = {
        .name = "FastGelu",
        .summary = "x / (1 + exp(-1.702 x)).",
        .detail = "Any shape.",
        .example = "network: [Flatten, {Dense: [784, 10]}, FastGelu]\n",
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .activation = "fast_gelu",
    .build = fast_gelu_build,
};

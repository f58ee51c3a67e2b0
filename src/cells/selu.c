/* SeLU: y = scale x where x > 0, else scale alpha (exp(x) - 1);
 * dx = dy scale, or dy scale alpha exp(x) = dy (y + scale alpha).
 * Klambauer et al., arXiv:1706.02515. */
#include "net/cell.h"
#include "net/pointwise.h"

#define ALPHA ((cr_real)1.67326324)
#define SCALE ((cr_real)1.05070098)

static void selu_map(const void *attr, int64_t n, const cr_real *x, cr_real *y)
{
    int64_t i;

    (void)attr;
    for (i = 0; i < n; i++) {
        cr_real v = x[i];

        y[i] = v > 0 ? SCALE * v : SCALE * ALPHA * cr_expm1(v);
    }
}

static void selu_forward(const struct cr_step *s)
{
    cr_pointwise(s, 5, selu_map);
}

static void selu_back(const void *attr, int64_t n, const cr_real *x,
                      const cr_real *y, const cr_real *dy, cr_real *d)
{
    int64_t i;

    (void)attr;
    (void)x;
    for (i = 0; i < n; i++) {
        cr_real v = y[i], g = dy[i];

        d[i] = v > 0 ? SCALE * g : g * (v + SCALE * ALPHA);
    }
}

static void selu_backward(const struct cr_step *s)
{
    cr_pointwise_back(s, 0.5, selu_back);
}

static const struct cr_op selu_op = {
    .about = { .name = "selu" },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .reads = CR_Y(0),
    .layouts = CR_LAYOUT_FLAT,
    .plan = cr_pointwise_plan,
    .forward = selu_forward,
    .backward = selu_backward,
};

static struct cr_val *selu_build(struct cr_build *b, struct cr_val *const *in)
{
    return CR_EMIT_OP(b, &selu_op, NULL, in[0]);
}

const struct cr_cell cr_cell_selu = {
    .about = {
        .name = "SeLU",
        .summary = "scale x where x is positive, scale alpha (exp(x) - 1) "
                   "elsewhere.",
        .detail = "Any shape. alpha = 1.67326324, scale = 1.05070098.",
        .example = "network: [Flatten, {Dense: [784, 10]}, SeLU]\n",
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .build = selu_build,
};

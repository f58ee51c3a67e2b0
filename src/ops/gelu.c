/* gelu (Hendrycks and Gimpel, arXiv:1606.08415)
 *   tanh:        y = x/2 (1 + tanh u),  u = sqrt(2/pi) (x + 0.044715 x^3)
 *   none:        y = x/2 (1 + erf(x / sqrt 2)) */
#include "base/compiler.h"
#include "families/pointwise.h"
#include "graph/op_attrs.h"

static const struct cr_opt gelu_opts[] = {
    CR_ENUM_DEFAULT(struct cr_gelu, approximate, CR_GELU_EXACT, "none|tanh",
                    "none: erf. tanh: the tanh approximation."),
    { 0 },
};

#define SQRT_2_PI ((cr_real)0.79788456080286535588)
#define SQRT_HALF ((cr_real)0.70710678118654752440)
#define CUBE ((cr_real)0.044715)

CR_INLINE cr_real inner_tanh(cr_real v)
{
    return cr_tanh(SQRT_2_PI * (v + CUBE * v * v * v));
}

static bool by_tanh(const void *attr)
{
    return ((const struct cr_gelu *)attr)->approximate == CR_GELU_TANH;
}

CR_CLONES_WIDE static void gelu_map(const void *attr, int64_t n,
                                    const cr_real *x, cr_real *y)
{
    const cr_real half = (cr_real)0.5;
    int64_t i;

    if (by_tanh(attr)) {
        CR_SIMD
        for (i = 0; i < n; i++)
            y[i] = half * x[i] * (1 + inner_tanh(x[i]));
    } else {
        CR_SIMD
        for (i = 0; i < n; i++)
            y[i] = half * x[i] * (1 + cr_erf(x[i] * SQRT_HALF));
    }
}

static void gelu_forward(const struct cr_op_ctx *s)
{
    cr_pointwise(s, 1.5, gelu_map);
}

/* tanh: dy/dx = (1 + t)/2 + x/2 (1 - t^2) du/dx
 * none: dy/dx = (1 + t)/2 + x exp(-x^2/2) / sqrt(2 pi) */
CR_CLONES_WIDE static void gelu_grad(const void *attr, int64_t n,
                                     const cr_real *x, const cr_real *y,
                                     const cr_real *dy, cr_real *d)
{
    const cr_real half = (cr_real)0.5;
    int64_t i;

    (void)y;
    if (by_tanh(attr)) {
        CR_SIMD
        for (i = 0; i < n; i++) {
            cr_real v = x[i], t = inner_tanh(v);

            d[i] =
                dy[i] * half *
                (1 + t + v * (1 - t * t) * SQRT_2_PI * (1 + 3 * CUBE * v * v));
        }
    } else {
        CR_SIMD
        for (i = 0; i < n; i++) {
            cr_real v = x[i];

            d[i] = dy[i] * half *
                   (1 + cr_erf(v * SQRT_HALF) +
                    v * SQRT_2_PI * cr_exp(-half * v * v));
        }
    }
}

static void gelu_backward(const struct cr_op_ctx *s)
{
    cr_pointwise_backward(s, 2, gelu_grad);
}

const struct cr_op cr_op_gelu = {
    .about = { .name = "gelu",
               .summary = "GELU: Gaussian error linear unit.",
               .opts = gelu_opts,
               .size = sizeof(struct cr_gelu) },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .inputs = cr_input,
    .layouts = CR_LAYOUT_FLAT,
    .saved_for_backward = CR_X(0),
    .plan = cr_pointwise_plan,
    .forward = gelu_forward,
    .bprop = "if approximate == 'tanh':\n"
             "    t = tanh(0.7978845608028654 * (a + 0.044715 * a * a * a))\n"
             "    slope = 0.7978845608028654 * (1 + 0.134145 * a * a)\n"
             "    return dy * 0.5 * (1 + t + a * (1 - t * t) * slope)\n"
             "return dy * 0.5 * (1 + erf(a * 0.7071067811865476)\n"
             "                   + a * 0.7978845608028654 * exp(-0.5 * a * a))",
    .backward = gelu_backward,
};

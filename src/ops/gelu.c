/* gelu (Hendrycks and Gimpel, arXiv:1606.08415)
 *   tanh:        y = x/2 (1 + tanh u),  u = sqrt(2/pi) (x + 0.044715 x^3)
 *   none:        y = x/2 (1 + erf(x / sqrt 2)) */
#include "kernels/gelu.h"
#include "base/compiler.h"
#include "families/pointwise.h"
#include "graph/op_attrs.h"

static const struct cr_opt gelu_opts[] = {
    CR_ENUM_DEFAULT(struct cr_gelu, approximate, CR_GELU_EXACT, "none|tanh",
                    "none: erf. tanh: the tanh approximation."),
    { 0 },
};

#define SQRT_8_PI ((cr_real)1.59576912160573071176)
#define CUBE ((cr_real)0.044715)

static bool by_tanh(const void *attr)
{
    return ((const struct cr_gelu *)attr)->approximate == CR_GELU_TANH;
}

/* (1 + tanh u)/2 = s = sigmoid(2 u) */
CR_INLINE cr_real tanh_of(CR_UNUSED const void *o, cr_real v)
{
    return SQRT_8_PI * (v + CUBE * v * v * v);
}

CR_INLINE cr_real tanh_y(CR_UNUSED const void *o, cr_real v, cr_real s)
{
    return v * s;
}

/* dy/dx = s + x s (1 - s) d(2 u)/dx */
CR_INLINE cr_real tanh_dx(CR_UNUSED const void *o, cr_real v, cr_real s,
                          cr_real g)
{
    return g * (s + v * s * (1 - s) * SQRT_8_PI * (1 + 3 * CUBE * v * v));
}

CR_POINTWISE_BY_MAP(tanh, void, sigmoid, of)
CR_POINTWISE_BY_GRAD(tanh, void, sigmoid, of)

static void gelu_map(const void *attr, int64_t n, const cr_real *x, cr_real *y)
{
    if (by_tanh(attr))
        tanh_map(attr, n, x, y);
    else
        cr_gelu(n, x, y);
}

static void gelu_forward(const struct cr_op_ctx *s)
{
    cr_pointwise(s, 0.7, gelu_map);
}

static void gelu_grad(const void *attr, int64_t n, const cr_real *x,
                      const cr_real *y, const cr_real *dy, cr_real *d)
{
    if (by_tanh(attr))
        tanh_map_grad(attr, n, x, y, dy, d);
    else
        cr_gelu_grad(n, x, dy, d);
}

static void gelu_backward(const struct cr_op_ctx *s)
{
    cr_pointwise_backward(s, 1, gelu_grad);
}

static const char *gelu_kernel(const struct cr_op_ctx *s)
{
    return by_tanh(s->attr) ? cr_exp_kernel()->head.name
                            : cr_gelu_kernel_name();
}

static const struct cr_op_kernels gelu_kernels = { .name = gelu_kernel };

const struct cr_op cr_op_gelu = {
    .about = { .name = "gelu",
               .summary = "GELU: Gaussian error linear unit.",
               .opts = gelu_opts,
               .size = sizeof(struct cr_gelu) },
    .rows = CR_ROWS_ALIGN,
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .inputs = cr_input,
    .algebra = { .kind = CR_ELEMENTWISE,
                 .map = gelu_map,
                 .map_grad = gelu_grad },
    .low = CR_X(0) | CR_Y(0),
    .saved_for_backward = CR_X(0),
    .kernels = &gelu_kernels,
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

/* gelu (Hendrycks and Gimpel, arXiv:1606.08415)
 *   tanh:        y = x/2 (1 + tanh u),  u = sqrt(2/pi) (x + 0.044715 x^3)
 *   none:        y = x/2 (1 + erf(x / sqrt 2)) */
#include "net/attr.h"
#include "net/pointwise.h"

static const struct cr_opt gelu_opts[] = {
    CR_ENUM_OR(struct cr_gelu, approximate, CR_GELU_EXACT, "none|tanh",
               "tanh: its formula instead of erf."),
    { 0 },
};

#define SQRT_2_PI ((cr_real)0.79788456080286535588)
#define SQRT_HALF ((cr_real)0.70710678118654752440)
#define CUBE ((cr_real)0.044715)

static void gelu_map(const void *attr, int64_t n, const cr_real *x, cr_real *y)
{
    bool approximate =
        ((const struct cr_gelu *)attr)->approximate == CR_GELU_TANH;
    const cr_real half = (cr_real)0.5;
    int64_t i;

    for (i = 0; i < n; i++) {
        cr_real v = x[i];
        cr_real t = approximate ? cr_tanh(SQRT_2_PI * (v + CUBE * v * v * v))
                                : cr_erf(v * SQRT_HALF);

        y[i] = half * v * (1 + t);
    }
}

static void gelu_forward(const struct cr_step *s)
{
    cr_pointwise(s, 10, gelu_map);
}

/* approximate: dy/dx = (1 + t)/2 + x/2 (1 - t^2) du/dx
 * exact:       dy/dx = (1 + t)/2 + x exp(-x^2/2) / sqrt(2 pi) */
static void gelu_back(const void *attr, int64_t n, const cr_real *x,
                      const cr_real *y, const cr_real *dy, cr_real *d)
{
    bool approximate =
        ((const struct cr_gelu *)attr)->approximate == CR_GELU_TANH;
    const cr_real half = (cr_real)0.5;
    int64_t i;

    (void)y;
    for (i = 0; i < n; i++) {
        cr_real v = x[i], slope;

        if (approximate) {
            cr_real t = cr_tanh(SQRT_2_PI * (v + CUBE * v * v * v));

            slope = half * (1 + t) +
                    half * v * (1 - t * t) * SQRT_2_PI * (1 + 3 * CUBE * v * v);
        } else {
            slope = half * (1 + cr_erf(v * SQRT_HALF)) +
                    v * half * SQRT_2_PI * cr_exp(-half * v * v);
        }
        d[i] = dy[i] * slope;
    }
}

static void gelu_backward(const struct cr_step *s)
{
    cr_pointwise_back(s, 12, gelu_back);
}

const struct cr_op cr_op_gelu = {
    .about = { .name = "gelu",
               .summary = "Gaussian error linear unit.",
               .opts = gelu_opts,
               .size = sizeof(struct cr_gelu) },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .inputs = cr_input,
    .function = true,
    .layouts = CR_LAYOUT_FLAT,
    .reads = CR_X(0),
    .plan = cr_pointwise_plan,
    .forward = gelu_forward,
    .backward = gelu_backward,
};

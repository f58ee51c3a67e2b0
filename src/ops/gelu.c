/* gelu (Hendrycks and Gimpel, arXiv:1606.08415)
 *   approximate: y = x/2 (1 + tanh u),  u = sqrt(2/pi) (x + 0.044715 x^3)
 *   exact:       y = x/2 (1 + erf(x / sqrt 2)) */
#include "math/each.h"
#include "net/op.h"

struct gelu {
    bool approximate;
};

static const struct cr_opt gelu_opts[] = {
    CR_BOOL_OR(struct gelu, approximate, true,
               "Take the formula with tanh instead of erf."),
    { 0 },
};

#define SQRT_2_PI ((cr_real)0.79788456080286535588)
#define SQRT_HALF ((cr_real)0.70710678118654752440)
#define CUBE ((cr_real)0.044715)

static bool gelu_plan(struct cr_plan *p)
{
    p->out[0] = p->in[0];
    return true;
}

static void gelu_range(void *ctx, int64_t from, int64_t to)
{
    const struct cr_step *s = ctx;
    bool approximate = ((const struct gelu *)s->attr)->approximate;
    const cr_real *x = s->x[0], half = (cr_real)0.5;
    cr_real *y = s->y[0];
    int64_t i;

    for (i = from; i < to; i++) {
        cr_real v = x[i];
        cr_real t = approximate ? cr_tanh(SQRT_2_PI * (v + CUBE * v * v * v))
                                : cr_erf(v * SQRT_HALF);

        y[i] = half * v * (1 + t);
    }
}

static void gelu_forward(const struct cr_step *s)
{
    cr_each(cr_count(&s->in[0]), 10, (void *)(uintptr_t)s, gelu_range);
}

/* approximate: dy/dx = (1 + t)/2 + x/2 (1 - t^2) du/dx
 * exact:       dy/dx = (1 + t)/2 + x exp(-x^2/2) / sqrt(2 pi) */
static void gelu_back_range(void *ctx, int64_t from, int64_t to)
{
    const struct cr_step *s = ctx;
    bool approximate = ((const struct gelu *)s->attr)->approximate;
    const cr_real *x = s->x[0], *dy = s->dy[0], half = (cr_real)0.5;
    cr_real *dx = s->dx[0];
    int64_t i;

    for (i = from; i < to; i++) {
        cr_real v = x[i], d;

        if (approximate) {
            cr_real t = cr_tanh(SQRT_2_PI * (v + CUBE * v * v * v));

            d = half * (1 + t) + half * v * (1 - t * t) * SQRT_2_PI *
                                     (1 + 3 * CUBE * v * v);
        } else {
            d = half * (1 + cr_erf(v * SQRT_HALF)) +
                v * half * SQRT_2_PI * cr_exp(-half * v * v);
        }
        d *= dy[i];
        dx[i] = s->add[0] ? dx[i] + d : d;
    }
}

static void gelu_backward(const struct cr_step *s)
{
    cr_each(cr_count(&s->in[0]), 12, (void *)(uintptr_t)s, gelu_back_range);
}

const struct cr_op cr_op_gelu = {
    .about = { .name = "gelu",
               .summary = "Gaussian error linear unit.",
               .opts = gelu_opts,
               .size = sizeof(struct gelu) },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .reads = CR_X(0),
    .plan = gelu_plan,
    .forward = gelu_forward,
    .backward = gelu_backward,
};

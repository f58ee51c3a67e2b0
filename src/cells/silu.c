/* SiLU: y = x s,  s = 1 / (1 + exp(-x));  dx = dy s (1 + x (1 - s)).
 * Elfwing, Uchibe and Doya, arXiv:1702.03118. */
#include "base/attr.h"
#include "net/cell.h"
#include "net/pointwise.h"

/* Without overflow on either side. */
CR_INLINE cr_real silu_s(cr_real x)
{
    cr_real e = cr_exp(x < 0 ? x : -x);

    return x < 0 ? e / (1 + e) : 1 / (1 + e);
}

CR_CLONES
static void silu_map(const void *attr, int64_t n, const cr_real *x, cr_real *y)
{
    int64_t i;

    (void)attr;
    CR_SIMD
    for (i = 0; i < n; i++) {
        cr_real v = x[i];

        y[i] = v * silu_s(v);
    }
}

static void silu_forward(const struct cr_step *s)
{
    cr_pointwise(s, 1.5, silu_map);
}

CR_CLONES
static void silu_back(const void *attr, int64_t n, const cr_real *x,
                      const cr_real *y, const cr_real *dy, cr_real *d)
{
    int64_t i;

    (void)attr;
    (void)y;
    CR_SIMD
    for (i = 0; i < n; i++) {
        cr_real v = x[i], g = dy[i];

        d[i] = g * (silu_s(v) * (1 + v * (1 - silu_s(v))));
    }
}

static void silu_backward(const struct cr_step *s)
{
    cr_pointwise_back(s, 2, silu_back);
}

static const struct cr_op silu_op = {
    .about = { .name = "silu" },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .reads = CR_X(0),
    .layouts = CR_LAYOUT_FLAT,
    .plan = cr_pointwise_plan,
    .forward = silu_forward,
    .backward = silu_backward,
};

static struct cr_val *silu_build(struct cr_build *b, struct cr_val *const *in)
{
    return CR_EMIT_OP(b, &silu_op, NULL, in[0]);
}

const struct cr_cell cr_cell_silu = {
    .about = {
        .name = "SiLU",
        .summary = "x / (1 + exp(-x)).",
        .detail = "Any shape.",
        .example = "network: [Flatten, {Dense: [784, 10]}, SiLU]\n",
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .activation = "silu",
    .build = silu_build,
};

/* Softsign: y = x / (1 + |x|);  dx = dy / (1 + |x|)^2. */
#include "base/attr.h"
#include "net/cell.h"
#include "net/pointwise.h"

CR_CLONES
static void softsign_map(const void *attr, int64_t n, const cr_real *x,
                         cr_real *y)
{
    int64_t i;

    (void)attr;
    CR_SIMD
    for (i = 0; i < n; i++) {
        cr_real v = x[i];

        y[i] = v / (1 + cr_abs(v));
    }
}

static void softsign_forward(const struct cr_step *s)
{
    cr_pointwise(s, 0.3, softsign_map);
}

CR_CLONES
static void softsign_back(const void *attr, int64_t n, const cr_real *x,
                          const cr_real *y, const cr_real *dy, cr_real *d)
{
    int64_t i;

    (void)attr;
    (void)y;
    CR_SIMD
    for (i = 0; i < n; i++) {
        cr_real v = x[i], g = dy[i];

        d[i] = g / ((1 + cr_abs(v)) * (1 + cr_abs(v)));
    }
}

static void softsign_backward(const struct cr_step *s)
{
    cr_pointwise_back(s, 0.5, softsign_back);
}

static const struct cr_op softsign_op = {
    .about = { .name = "softsign" },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .reads = CR_X(0),
    .layouts = CR_LAYOUT_FLAT,
    .plan = cr_pointwise_plan,
    .forward = softsign_forward,
    .backward = softsign_backward,
};

static struct cr_val *softsign_build(struct cr_build *b,
                                     struct cr_val *const *in)
{
    return CR_EMIT_OP(b, &softsign_op, NULL, in[0]);
}

const struct cr_cell cr_cell_softsign = {
    .about = {
        .name = "Softsign",
        .summary = "x / (1 + abs(x)).",
        .detail = "Any shape.",
        .example = "network: [Flatten, {Dense: [784, 10]}, Softsign]\n",
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .activation = "softsign",
    .build = softsign_build,
};

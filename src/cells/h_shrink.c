/* HShrink: y = x where |x| > lambd, else 0;  dx = dy where |x| > lambd. */
#include "base/attr.h"
#include "net/cell.h"
#include "net/pointwise.h"

struct h_shrink {
    double lambd;
};

static const struct cr_opt h_shrink_opts[] = {
    CR_REAL_OR(struct h_shrink, lambd, 0.5, 0, 1e30, "Half of what is 0."),
    { 0 },
};

CR_CLONES
static void h_shrink_map(const void *attr, int64_t n, const cr_real *x,
                         cr_real *y)
{
    cr_real lambd = (cr_real)((const struct h_shrink *)attr)->lambd;
    int64_t i;

    CR_SIMD
    for (i = 0; i < n; i++) {
        cr_real v = x[i];

        y[i] = v > lambd || v < -lambd ? v : 0 * v;
    }
}

static void h_shrink_forward(const struct cr_step *s)
{
    cr_pointwise(s, 0.3, h_shrink_map);
}

CR_CLONES
static void h_shrink_back(const void *attr, int64_t n, const cr_real *x,
                          const cr_real *y, const cr_real *dy, cr_real *d)
{
    cr_real lambd = (cr_real)((const struct h_shrink *)attr)->lambd;
    int64_t i;

    (void)y;
    CR_SIMD
    for (i = 0; i < n; i++) {
        cr_real v = x[i], g = dy[i];

        d[i] = v > lambd || v < -lambd ? g : 0;
    }
}

static void h_shrink_backward(const struct cr_step *s)
{
    cr_pointwise_back(s, 0.5, h_shrink_back);
}

static const struct cr_op h_shrink_op = {
    .about = { .name = "h_shrink" },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .reads = CR_X(0),
    .layouts = CR_LAYOUT_FLAT,
    .plan = cr_pointwise_plan,
    .forward = h_shrink_forward,
    .backward = h_shrink_backward,
};

static struct cr_val *h_shrink_build(struct cr_build *b,
                                     struct cr_val *const *in)
{
    return CR_EMIT_OP(b, &h_shrink_op, cr_opts(b), in[0]);
}

const struct cr_cell cr_cell_h_shrink = {
    .about = {
        .name = "HShrink",
        .summary = "x, and 0 near 0.",
        .detail = "Any shape.",
        .example = "network: [Flatten, {Dense: [784, 10]}, HShrink]\n",
        .opts = h_shrink_opts,
        .size = sizeof(struct h_shrink),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .activation = "hshrink",
    .build = h_shrink_build,
};

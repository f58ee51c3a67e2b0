/* Threshold: y = x where x > threshold, else value;  dx = dy where x >
 * threshold. */
#include "base/attr.h"
#include "net/cell.h"
#include "net/pointwise.h"

struct threshold {
    double threshold, value;
};

static const struct cr_opt threshold_opts[] = {
    CR_REAL(struct threshold, threshold, -1e30, 1e30, "x above this stays."),
    CR_REAL(struct threshold, value, -1e30, 1e30, "What stands elsewhere."),
    { 0 },
};

CR_CLONES
static void threshold_map(const void *attr, int64_t n, const cr_real *x,
                          cr_real *y)
{
    cr_real threshold = (cr_real)((const struct threshold *)attr)->threshold;
    cr_real value = (cr_real)((const struct threshold *)attr)->value;
    int64_t i;

    CR_SIMD
    for (i = 0; i < n; i++) {
        cr_real v = x[i];

        y[i] = v > threshold ? v : v != v ? v : value;
    }
}

static void threshold_forward(const struct cr_step *s)
{
    cr_pointwise(s, 0.3, threshold_map);
}

CR_CLONES
static void threshold_back(const void *attr, int64_t n, const cr_real *x,
                           const cr_real *y, const cr_real *dy, cr_real *d)
{
    cr_real threshold = (cr_real)((const struct threshold *)attr)->threshold;
    int64_t i;

    (void)y;
    CR_SIMD
    for (i = 0; i < n; i++) {
        cr_real v = x[i], g = dy[i];

        d[i] = v > threshold ? g : 0;
    }
}

static void threshold_backward(const struct cr_step *s)
{
    cr_pointwise_back(s, 0.5, threshold_back);
}

static const struct cr_op threshold_op = {
    .about = { .name = "threshold" },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .reads = CR_X(0),
    .layouts = CR_LAYOUT_FLAT,
    .plan = cr_pointwise_plan,
    .forward = threshold_forward,
    .backward = threshold_backward,
};

static struct cr_val *threshold_build(struct cr_build *b,
                                      struct cr_val *const *in)
{
    return CR_EMIT_OP(b, &threshold_op, cr_opts(b), in[0]);
}

const struct cr_cell cr_cell_threshold = {
    .about = {
        .name = "Threshold",
        .summary = "x above a threshold, a value elsewhere.",
        .detail = "Any shape.",
        .example = "network: [Flatten, {Dense: [784, 10]}, {Threshold: [0.1, "
                   "0.1]}]\n",
        .opts = threshold_opts,
        .size = sizeof(struct threshold),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .activation = "threshold",
    .build = threshold_build,
};

/* ELU: y = x where x >= 0, else exp(x) - 1;  dx = dy or dy (y + 1).
 * Clevert, Unterthiner and Hochreiter, arXiv:1511.07289. */
#include "net/cell.h"
#include "net/pointwise.h"

struct elu {
    double alpha;
};

static const struct cr_opt elu_opts[] = {
    CR_REAL_OR(struct elu, alpha, 1, 1, 1, "Only 1, as in MindSpore."),
    { 0 },
};

static void elu_map(const void *attr, int64_t n, const cr_real *x, cr_real *y)
{
    cr_real alpha = (cr_real)((const struct elu *)attr)->alpha;
    int64_t i;

    for (i = 0; i < n; i++) {
        cr_real v = x[i];

        y[i] = v < 0 ? alpha * cr_expm1(v) : v;
    }
}

static void elu_forward(const struct cr_step *s)
{
    cr_pointwise(s, 5, elu_map);
}

static void elu_back(const void *attr, int64_t n, const cr_real *x,
                     const cr_real *y, const cr_real *dy, cr_real *d)
{
    cr_real alpha = (cr_real)((const struct elu *)attr)->alpha;
    int64_t i;

    (void)x;
    for (i = 0; i < n; i++) {
        cr_real v = y[i], g = dy[i];

        d[i] = v < 0 ? g * (v + alpha) : g;
    }
}

static void elu_backward(const struct cr_step *s)
{
    cr_pointwise_back(s, 0.5, elu_back);
}

static const struct cr_op elu_op = {
    .about = { .name = "elu" },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .reads = CR_Y(0),
    .layouts = CR_LAYOUT_FLAT,
    .plan = cr_pointwise_plan,
    .forward = elu_forward,
    .backward = elu_backward,
};

static struct cr_val *elu_build(struct cr_build *b, struct cr_val *const *in)
{
    return CR_EMIT_OP(b, &elu_op, cr_opts(b), in[0]);
}

const struct cr_cell cr_cell_elu = {
    .about = {
        .name = "ELU",
        .summary = "x where x is not negative, exp(x) - 1 elsewhere.",
        .detail = "Any shape.",
        .example = "network: [Flatten, {Dense: [784, 10]}, ELU]\n",
        .opts = elu_opts,
        .size = sizeof(struct elu),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .activation = "elu",
    .build = elu_build,
};

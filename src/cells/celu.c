/* CELU: y = x where x > 0, else alpha (exp(x / alpha) - 1);
 * dx = dy or dy exp(x / alpha). Barron, arXiv:1704.07483. */
#include "net/cell.h"
#include "net/pointwise.h"

struct celu {
    double alpha;
};

static const struct cr_opt celu_opts[] = {
    CR_REAL_OR(struct celu, alpha, 1, -1e30, 1e30, "Any number but 0."),
    { 0 },
};

static bool celu_check(struct cr_diag *diag, struct cr_pos pos,
                       const void *opts)
{
    return ((const struct celu *)opts)->alpha != 0 ||
           cr_error(diag, pos, CR_E_OUT_OF_RANGE,
                    "CELU takes an alpha other than 0");
}

static void celu_map(const void *attr, int64_t n, const cr_real *x, cr_real *y)
{
    cr_real alpha = (cr_real)((const struct celu *)attr)->alpha;
    int64_t i;

    for (i = 0; i < n; i++) {
        cr_real v = x[i];

        y[i] = v > 0 ? v : alpha * cr_expm1(v / alpha);
    }
}

static void celu_forward(const struct cr_step *s)
{
    cr_pointwise(s, 5, celu_map);
}

static void celu_back(const void *attr, int64_t n, const cr_real *x,
                      const cr_real *y, const cr_real *dy, cr_real *d)
{
    cr_real alpha = (cr_real)((const struct celu *)attr)->alpha;
    int64_t i;

    (void)y;
    for (i = 0; i < n; i++) {
        cr_real v = x[i], g = dy[i];

        d[i] = v > 0 ? g : g * cr_exp(v / alpha);
    }
}

static void celu_backward(const struct cr_step *s)
{
    cr_pointwise_back(s, 5, celu_back);
}

static const struct cr_op celu_op = {
    .about = { .name = "celu" },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .reads = CR_X(0),
    .layouts = CR_LAYOUT_FLAT,
    .plan = cr_pointwise_plan,
    .forward = celu_forward,
    .backward = celu_backward,
};

static struct cr_val *celu_build(struct cr_build *b, struct cr_val *const *in)
{
    return CR_EMIT_OP(b, &celu_op, cr_opts(b), in[0]);
}

const struct cr_cell cr_cell_celu = {
    .about = {
        .name = "CELU",
        .summary = "x where x is positive, alpha (exp(x / alpha) - 1) "
                   "elsewhere.",
        .detail = "Any shape.",
        .example = "network: [Flatten, {Dense: [784, 10]}, CELU]\n",
        .opts = celu_opts,
        .size = sizeof(struct celu),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .check = celu_check,
    .build = celu_build,
};

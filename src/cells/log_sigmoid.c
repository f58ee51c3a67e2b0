/* LogSigmoid: y = log(1 / (1 + exp(-x)));  dx = dy / (1 + exp(x)). */
#include "net/cell.h"
#include "net/pointwise.h"

/* 1 / (1 + exp(x)) without overflow on either side. */
static cr_real log_sigmoid_slope(cr_real x)
{
    cr_real e = cr_exp(-cr_abs(x));

    return x < 0 ? 1 / (1 + e) : e / (1 + e);
}

static void log_sigmoid_map(const void *attr, int64_t n, const cr_real *x,
                            cr_real *y)
{
    int64_t i;

    (void)attr;
    for (i = 0; i < n; i++) {
        cr_real v = x[i];

        y[i] = (v < 0 ? v : 0) - cr_log1p(cr_exp(-cr_abs(v)));
    }
}

static void log_sigmoid_forward(const struct cr_step *s)
{
    cr_pointwise(s, 10, log_sigmoid_map);
}

static void log_sigmoid_back(const void *attr, int64_t n, const cr_real *x,
                             const cr_real *y, const cr_real *dy, cr_real *d)
{
    int64_t i;

    (void)attr;
    (void)y;
    for (i = 0; i < n; i++) {
        cr_real v = x[i], g = dy[i];

        d[i] = g * log_sigmoid_slope(v);
    }
}

static void log_sigmoid_backward(const struct cr_step *s)
{
    cr_pointwise_back(s, 6, log_sigmoid_back);
}

static const struct cr_op log_sigmoid_op = {
    .about = { .name = "log_sigmoid" },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .reads = CR_X(0),
    .layouts = CR_LAYOUT_FLAT,
    .plan = cr_pointwise_plan,
    .forward = log_sigmoid_forward,
    .backward = log_sigmoid_backward,
};

static struct cr_val *log_sigmoid_build(struct cr_build *b,
                                        struct cr_val *const *in)
{
    return CR_EMIT_OP(b, &log_sigmoid_op, NULL, in[0]);
}

const struct cr_cell cr_cell_log_sigmoid = {
    .about = {
        .name = "LogSigmoid",
        .summary = "log(1 / (1 + exp(-x))).",
        .detail = "Any shape.",
        .example = "network: [Flatten, {Dense: [784, 10]}, LogSigmoid]\n",
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .activation = "logsigmoid",
    .build = log_sigmoid_build,
};

/* LeakyReLU: y = x where x >= 0, else alpha x;  dx = dy or alpha dy.
 * Maas, Hannun and Ng, "Rectifier nonlinearities improve neural network
 * acoustic models", ICML 2013. */
#include "net/cell.h"
#include "net/pointwise.h"

struct leaky_relu {
    double alpha;
};

static const struct cr_opt leaky_relu_opts[] = {
    CR_REAL_OR(struct leaky_relu, alpha, 0.2, -1e30, 1e30,
               "Slope below zero (PyTorch's default is 0.01)."),
    { 0 },
};

static void leaky_relu_map(const void *attr, int64_t n, const cr_real *x,
                           cr_real *y)
{
    cr_real alpha = (cr_real)((const struct leaky_relu *)attr)->alpha;
    int64_t i;

    for (i = 0; i < n; i++)
        y[i] = x[i] < 0 ? alpha * x[i] : x[i];
}

static void leaky_relu_forward(const struct cr_step *s)
{
    cr_pointwise(s, 0.3, leaky_relu_map);
}

static void leaky_relu_back(const void *attr, int64_t n, const cr_real *x,
                            const cr_real *y, const cr_real *dy, cr_real *d)
{
    cr_real alpha = (cr_real)((const struct leaky_relu *)attr)->alpha;
    int64_t i;

    (void)y;
    for (i = 0; i < n; i++)
        d[i] = x[i] < 0 ? alpha * dy[i] : dy[i];
}

static void leaky_relu_backward(const struct cr_step *s)
{
    cr_pointwise_back(s, 0.5, leaky_relu_back);
}

static const struct cr_op leaky_relu_op = {
    .about = { .name = "leaky_relu" },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .reads = CR_X(0),
    .plan = cr_pointwise_plan,
    .forward = leaky_relu_forward,
    .backward = leaky_relu_backward,
};

static struct cr_val *leaky_relu_build(struct cr_build *b,
                                       struct cr_val *const *in)
{
    return CR_EMIT_OP(b, &leaky_relu_op, cr_opts(b), in[0]);
}

const struct cr_cell cr_cell_leaky_relu = {
    .about = {
        .name = "LeakyReLU",
        .summary = "x where x is not negative, alpha x elsewhere.",
        .detail = "Any shape.",
        .example = "network: [Flatten, {Dense: [784, 10]}, {LeakyReLU: "
                   "{alpha: 0.1}}]\n",
        .opts = leaky_relu_opts,
        .size = sizeof(struct leaky_relu),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .activation = "leakyrelu",
    .build = leaky_relu_build,
};

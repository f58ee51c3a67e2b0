/* LeakyReLU: y = x where x >= 0, else alpha x;  dx = dy or alpha dy.
 * Maas, Hannun and Ng, "Rectifier nonlinearities improve neural network
 * acoustic models", ICML 2013. */
#include "families/pointwise.h"
#include "graph/cell.h"

struct leaky_relu {
    double alpha;
};

static const struct cr_opt leaky_relu_opts[] = {
    CR_REAL_DEFAULT(struct leaky_relu, alpha, 0.2, -1e30, 1e30,
                    "Slope for negative x (PyTorch's default: 0.01)."),
    { 0 },
};

CR_INLINE cr_real leaky_relu_y(const struct leaky_relu *o, cr_real v)
{
    cr_real below = (cr_real)o->alpha * v;

    return v < 0 ? below : v;
}

CR_INLINE cr_real leaky_relu_dx(const struct leaky_relu *o, cr_real v,
                                cr_real g)
{
    cr_real below = (cr_real)o->alpha * g;

    return v < 0 ? below : g;
}

CR_POINTWISE_CELL(leaky_relu, struct leaky_relu, x, 0.3, 0.5,
                  .about.opts = leaky_relu_opts,
                  .about.size = sizeof(struct leaky_relu),
                  .bprop = "return where(a < 0, alpha * dy, dy)")

const struct cr_cell cr_cell_leaky_relu = {
    .about = {
        .name = "LeakyReLU",
        .summary = "Leaky ReLU: x if x >= 0, else alpha x.",
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

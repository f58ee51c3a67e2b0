/* ELU: y = x where x >= 0, else exp(x) - 1;  dx = dy or dy (y + 1).
 * Clevert, Unterthiner and Hochreiter, arXiv:1511.07289. */
#include "families/pointwise.h"
#include "graph/cell.h"

struct elu {
    double alpha;
};

static const struct cr_opt elu_opts[] = {
    CR_REAL_DEFAULT(struct elu, alpha, 1, 1, 1,
                    "Scale of the negative branch: "
                    "1, the only value that "
                    "MindSpore accepts."),
    { 0 },
};

CR_INLINE cr_real elu_y(const struct elu *o, cr_real v, cr_real e)
{
    cr_real below = (cr_real)o->alpha * e;

    return v < 0 ? below : v;
}

CR_INLINE cr_real elu_dx(const struct elu *o, cr_real v, cr_real g)
{
    cr_real below = g * (v + (cr_real)o->alpha);

    return v < 0 ? below : g;
}

CR_POINTWISE_BY_MAP(elu, struct elu, expm1, x)
CR_POINTWISE_GRAD(elu, struct elu, y)
CR_POINTWISE_STEPS(elu, 0.5, 0.3)
CR_POINTWISE_OP(elu, y, .kernels = &cr_pointwise_kernels,
                .about.opts = elu_opts, .about.size = sizeof(struct elu),
                .bprop = "return where(a < 0, dy * (y + alpha), dy)")

const struct cr_cell cr_cell_elu = {
    .about = {
        .name = "ELU",
        .summary = "ELU, exponential linear unit: x if x >= 0, else exp(x) - "
                   "1.",
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

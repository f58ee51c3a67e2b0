/* CELU: y = x where x > 0, else alpha (exp(x / alpha) - 1);
 * dx = dy or dy (y / alpha + 1), as MindSpore. Barron, arXiv:1704.07483. */
#include "families/pointwise.h"
#include "graph/cell.h"

struct celu {
    double alpha;
};

static const struct cr_opt celu_opts[] = {
    CR_REAL_DEFAULT(struct celu, alpha, 1, -1e30, 1e30,
                    "Scale of the negative "
                    "branch; not 0."),
    { 0 },
};

static bool celu_check(struct cr_diag *diag, struct cr_pos pos,
                       const void *opts)
{
    return ((const struct celu *)opts)->alpha != 0 ||
           cr_error(diag, pos, CR_E_OUT_OF_RANGE,
                    "alpha: found 0, expected another number");
}

CR_INLINE cr_real celu_of(const struct celu *o, cr_real v)
{
    return v / (cr_real)o->alpha;
}

CR_INLINE cr_real celu_y(const struct celu *o, cr_real v, cr_real e)
{
    cr_real below = (cr_real)o->alpha * e;

    return v > 0 ? v : below;
}

CR_INLINE cr_real celu_dx(const struct celu *o, cr_real v, cr_real g)
{
    cr_real below = g * (v / (cr_real)o->alpha + 1);

    return v > 0 ? g : below;
}

CR_POINTWISE_BY_MAP(celu, struct celu, expm1, of)
CR_POINTWISE_GRAD(celu, struct celu, y)
CR_POINTWISE_STEPS(celu, 0.5, 0.3)
CR_POINTWISE_OP(celu, y, .kernels = &cr_pointwise_kernels,
                .about.opts = celu_opts, .about.size = sizeof(struct celu),
                .bprop = "return where(a > 0, dy, dy * (y / alpha + 1))")

const struct cr_cell cr_cell_celu = {
    .about = {
        .name = "CELU",
        .summary = "CELU: x if x > 0, else alpha (exp(x / alpha) - 1).",
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

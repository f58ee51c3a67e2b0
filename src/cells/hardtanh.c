/* Hardtanh: y = x limited to min_val and max_val; dx = dy inside, dy / 2 at
 * the limits, as in MindSpore. */
#include "families/pointwise.h"
#include "graph/cell.h"

struct hardtanh {
    double min_val, max_val;
};

static const struct cr_opt hardtanh_opts[] = {
    CR_REAL_DEFAULT(struct hardtanh, min_val, -1, -1e30, 1e30,
                    "Minimum of the output."),
    CR_REAL_DEFAULT(struct hardtanh, max_val, 1, -1e30, 1e30,
                    "Maximum of the "
                    "output."),
    { 0 },
};

static bool hardtanh_check(struct cr_diag *diag, struct cr_pos pos,
                           const void *opts)
{
    const struct hardtanh *o = opts;

    return o->min_val < o->max_val ||
           cr_error(diag, pos, CR_E_OUT_OF_RANGE,
                    "Hardtanh: found min_val not below max_val, expected it "
                    "below");
}

CR_INLINE cr_real hardtanh_y(const struct hardtanh *o, cr_real v)
{
    cr_real low = (cr_real)o->min_val, high = (cr_real)o->max_val;

    return v < low ? low : v > high ? high : v;
}

CR_INLINE cr_real hardtanh_dx(const struct hardtanh *o, cr_real v, cr_real g)
{
    cr_real low = (cr_real)o->min_val, high = (cr_real)o->max_val;

    return v > low && v < high ? g : v == low || v == high ? g / 2 : 0;
}

CR_POINTWISE_CELL(hardtanh, struct hardtanh, x, 0.3, 0.5,
                  .about.opts = hardtanh_opts,
                  .about.size = sizeof(struct hardtanh))

const struct cr_cell cr_cell_hardtanh = {
    .about = {
        .name = "Hardtanh",
        .summary = "Hard tanh: x clipped to [min_val, max_val].",
        .detail = "Any shape.",
        .example = "network: [Flatten, {Dense: [784, 10]}, Hardtanh]\n",
        .opts = hardtanh_opts,
        .size = sizeof(struct hardtanh),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .check = hardtanh_check,
    .activation = "hardtanh",
    .build = hardtanh_build,
};

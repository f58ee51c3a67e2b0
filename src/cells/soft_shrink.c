/* SoftShrink: y = x - lambd above lambd, x + lambd below -lambd, else 0;
 * dx = dy where |x| > lambd. */
#include "families/pointwise.h"
#include "graph/cell.h"

struct soft_shrink {
    double lambd;
};

static const struct cr_opt soft_shrink_opts[] = {
    CR_REAL_DEFAULT(struct soft_shrink, lambd, 0.5, 0, 1e30,
                    "Elements within lambd of 0 become 0."),
    { 0 },
};

CR_INLINE cr_real soft_shrink_y(const struct soft_shrink *o, cr_real v)
{
    cr_real lambd = (cr_real)o->lambd;

    return v > lambd ? v - lambd : v < -lambd ? v + lambd : 0 * v;
}

CR_INLINE cr_real soft_shrink_dx(const struct soft_shrink *o, cr_real v,
                                 cr_real g)
{
    cr_real lambd = (cr_real)o->lambd;

    return v > lambd || v < -lambd ? g : 0;
}

CR_POINTWISE_CELL(soft_shrink, struct soft_shrink, x, 0.3, 0.5,
                  .about.opts = soft_shrink_opts,
                  .about.size = sizeof(struct soft_shrink))

const struct cr_cell cr_cell_soft_shrink = {
    .about = {
        .name = "SoftShrink",
        .summary = "Soft shrink: x moved towards 0 by lambd, 0 within lambd of "
                   "0.",
        .detail = "Any shape.",
        .example = "network: [Flatten, {Dense: [784, 10]}, SoftShrink]\n",
        .opts = soft_shrink_opts,
        .size = sizeof(struct soft_shrink),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .activation = "softshrink",
    .build = soft_shrink_build,
};

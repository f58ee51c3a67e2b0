/* HShrink: y = x where |x| > lambd, else 0;  dx = dy where |x| > lambd. */
#include "families/pointwise.h"
#include "graph/cell.h"

struct h_shrink {
    double lambd;
};

static const struct cr_opt h_shrink_opts[] = {
    CR_REAL_DEFAULT(struct h_shrink, lambd, 0.5, 0, 1e30,
                    "Elements within "
                    "lambd of 0 become "
                    "0."),
    { 0 },
};

CR_INLINE cr_real h_shrink_y(const struct h_shrink *o, cr_real v)
{
    cr_real lambd = (cr_real)o->lambd;

    return v > lambd || v < -lambd ? v : 0 * v;
}

CR_INLINE cr_real h_shrink_dx(const struct h_shrink *o, cr_real v, cr_real g)
{
    cr_real lambd = (cr_real)o->lambd;

    return v > lambd || v < -lambd ? g : 0;
}

CR_POINTWISE_CELL(h_shrink, struct h_shrink, x, 0.3, 0.5,
                  .about.opts = h_shrink_opts,
                  .about.size = sizeof(struct h_shrink))

const struct cr_cell cr_cell_h_shrink = {
    .about = {
        .name = "HShrink",
        .summary = "Hard shrink: 0 if |x| <= lambd, else x.",
        .detail = "Any shape.",
        .example = "network: [Flatten, {Dense: [784, 10]}, HShrink]\n",
        .opts = h_shrink_opts,
        .size = sizeof(struct h_shrink),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .activation = "hshrink",
    .build = h_shrink_build,
};

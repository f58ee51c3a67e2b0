/* Threshold: y = x where x > threshold, else value;  dx = dy where x >
 * threshold. */
#include "families/pointwise.h"
#include "graph/cell.h"

struct threshold {
    double threshold, value;
};

static const struct cr_opt threshold_opts[] = {
    CR_REAL(struct threshold, threshold, -1e30, 1e30,
            "Threshold: x is kept if "
            "it is greater."),
    CR_REAL(struct threshold, value, -1e30, 1e30, "Value elsewhere."),
    { 0 },
};

CR_INLINE cr_real threshold_y(const struct threshold *o, cr_real v)
{
    cr_real threshold = (cr_real)o->threshold, value = (cr_real)o->value;

    /* NaN is passed on */
    return v <= threshold ? value : v;
}

CR_INLINE cr_real threshold_dx(const struct threshold *o, cr_real v, cr_real g)
{
    return v > (cr_real)o->threshold ? g : 0;
}

CR_POINTWISE_CELL(threshold, struct threshold, x, 0.3, 0.5,
                  .about.opts = threshold_opts,
                  .about.size = sizeof(struct threshold))

const struct cr_cell cr_cell_threshold = {
    .about = {
        .name = "Threshold",
        .summary = "Threshold: x if x > threshold, else value.",
        .detail = "Any shape.",
        .example = "network: [Flatten, {Dense: [784, 10]}, {Threshold: [0.1, "
                   "0.1]}]\n",
        .opts = threshold_opts,
        .size = sizeof(struct threshold),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .activation = "threshold",
    .build = threshold_build,
};

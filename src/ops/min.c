/* min: y = the smallest of x along axes, NaN if there is one; dy is divided
 * equally among equal minima (MindSpore's ReduceMin). */
#include "families/minmax.h"

CR_REDUCE(min, .reducer = &cr_reducer_min, .cost = 0.5)

const struct cr_op cr_op_min = {
    CR_REDUCE_OP("min", "Minimum along axes; argmin gives its index."),
    CR_MINMAX_OP,
    .bprop = "axes = None if len(axis) == 0 else axis\n"
             "m = min(a, axes, keepdims=True)\n"
             "hit = cast(a == m, float32)\n"
             "hit = hit / sum(hit, axes, keepdims=True)\n"
             "return reshape(dy, m.shape) * hit",
    .forward = min_forward,
};

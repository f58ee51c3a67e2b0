/* max: y = the largest of x along axes, NaN if there is one; dy is divided
 * equally among equal maxima (MindSpore's ReduceMax). */
#include "families/minmax.h"

CR_REDUCE(max, .reducer = &cr_reducer_max, .cost = 0.5)

const struct cr_op cr_op_max = {
    CR_REDUCE_OP("max", "Maximum along axes; argmax gives its index."),
    CR_MINMAX_OP,
    .bprop = "axes = None if len(axis) == 0 else axis\n"
             "m = max(a, axes, keepdims=True)\n"
             "hit = cast(a == m, float32)\n"
             "hit = hit / sum(hit, axes, keepdims=True)\n"
             "return reshape(dy, m.shape) * hit",
    .forward = max_forward,
};

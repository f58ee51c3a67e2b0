/* min: y = the smallest of x along axes, NaN if there is one;
 * dy is shared equally by all that are as smallest (MindSpore's ReduceMin). */
#include "net/extreme.h"

CR_OVER(min, .fold = &cr_fold_min, .cost = 0.5)

const struct cr_op cr_op_min = {
    CR_OVER_OP("min", "Smallest element along axes."),
    CR_EXTREME_OP,
    .forward = min_forward,
};

/*
 * The windows of pooling along one dimension, for the formats of networks;
 * shapes as in families/pool.c.
 */
#ifndef CR_EXPORT_WINDOW_H
#define CR_EXPORT_WINDOW_H

#include "families/pool.h"

struct cr_pool_window {
    int64_t in, out, kernel, stride, dilation, before, after;
    int64_t beyond; /* ceil_mode: the last window reaches so far past the
                       padding */
};

/* Entry i of a list that has one entry for all or one for each. */
int64_t cr_window_pick(const struct cr_ints *list, int i, int64_t otherwise);

/* The windows along spatial dimension i, from `in` to `out` elements. Adaptive
 * pooling: `in` must be a multiple of `out`. */
struct cr_pool_window cr_window_of_pool(const struct cr_pool_opts *a, int i,
                                   int64_t in, int64_t out);

#endif

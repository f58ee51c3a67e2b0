/*
 * Max pooling with 2 x 2 windows and stride 2, one row of windows at a time.
 */
#ifndef CR_KERNELS_MAX_POOL_2X2_H
#define CR_KERNELS_MAX_POOL_2X2_H

#include "num/real.h"

#include <stdbool.h>
#include <stdint.h>

/* y[i] = maximum of x0[2i], x0[2i + 1], x1[2i], x1[2i + 1]; at[i] is its index
 * among them, the first one of equals. A NaN counts as the maximum. */
void cr_max_pool_2x2(int64_t n, const cr_real *x0, const cr_real *x1,
                     cr_real *y, uint8_t *at);
/* dx = (add ? dx : 0) + dy at the maximum, + 0 elsewhere, then 0 where
 * mask <= 0. Masks have the shape of dx, or are NULL. */
void cr_max_pool_2x2_backward(int64_t n, const cr_real *dy, const uint8_t *at,
                              const cr_real *mask0, const cr_real *mask1,
                              bool add, cr_real *dx0, cr_real *dx1);

#endif

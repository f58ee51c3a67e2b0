/*
 * Maxima over windows of 2 by 2 that lie side by side, the commonest pooling:
 * one row of windows at a time, from two rows of the image.
 */
#ifndef CR_MATH_MAX_POOL_2X2_H
#define CR_MATH_MAX_POOL_2X2_H

#include "math/real.h"

#include <stdbool.h>
#include <stdint.h>

/* y[i] is the first largest of x0[2i], x0[2i + 1], x1[2i], x1[2i + 1], which
 * at[i] counts from 0; NaN wins. */
void cr_max_pool_2x2(int64_t n, const cr_real *x0, const cr_real *x1,
                     cr_real *y, uint8_t *at);
/* dx = (add ? dx : 0) + dy where the maximum was, 0 elsewhere and where the
 * mask is <= 0. Masks have the shape of dx, or are NULL. */
void cr_max_pool_2x2_backward(int64_t n, const cr_real *dy, const uint8_t *at,
                              const cr_real *mask0, const cr_real *mask1,
                              bool add, cr_real *dx0, cr_real *dx1);

#endif

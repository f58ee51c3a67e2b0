/*
 * Pooling: maxima and means over windows of one to three dimensions, of
 * tensors (n, c, spatial) or, with channels last, (n, spatial, c).
 *
 * Outputs are split over threads, and in backward samples and channels: each
 * number is made by one thread, in one order.
 */
#ifndef CR_MATH_POOL_H
#define CR_MATH_POOL_H

#include "math/spec.h"

/* The windows along one dimension: window o covers in[o * stride - before +
 * k * dilation], k < kernel, as far as that is inside. Adaptive: window o is
 * floor(o in / out) to ceil((o + 1) in / out), the end not included. */
struct cr_window {
    int64_t in, out, kernel, stride, dilation, pad_before, pad_after;
    bool adaptive;
};

struct cr_pool {
    int64_t n, c;
    bool last;
    struct cr_window w[3]; /* missing dimensions first, of size 1 */
    bool count_pad;        /* means: padding counts, ceil's excess does not */
    int64_t divisor;       /* means: instead of a count; 0: none */
};

/* Elements in the largest window, and bytes that an index into it takes. */
int64_t cr_pool_volume(const struct cr_pool *p);
size_t cr_pool_index(const struct cr_pool *p);

/* The first largest of each window; NaN wins. at: its index in the window,
 * cr_pool_index bytes each, in the order of y. Of a window that lies in the
 * padding as a whole -infinity. */
void cr_pool_max(const struct cr_pool *p, const cr_real *x, cr_real *y,
                 void *at);
/* The same index within the sample's channel, h W + w, in the order of y. */
void cr_pool_places(const struct cr_pool *p, const void *at, int32_t *to);
/* dx = (add ? dx : 0) + dy where the maximum was; 0 where mask <= 0. */
void cr_pool_max_backward(const struct cr_pool *p, const cr_real *dy,
                          const void *at, const cr_real *mask, bool add,
                          cr_real *dx);

void cr_pool_mean(const struct cr_pool *p, const cr_real *x, cr_real *y);
void cr_pool_mean_backward(const struct cr_pool *p, const cr_real *dy, bool add,
                           cr_real *dx);

#endif

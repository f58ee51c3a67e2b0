/*
 * Reductions and affine maps per channel, for batch normalisation. Tensors are
 * (n, c, s) or, with channels last, (n, s, c).
 *
 * Sums are computed over blocks of the tensor: in cr_real within a block, in
 * double over the blocks. Block borders depend on the shape only, so results do
 * not depend on the number of threads.
 */
#ifndef CR_KERNELS_CHANNEL_H
#define CR_KERNELS_CHANNEL_H

#include "num/spec.h"

struct cr_channels {
    int64_t n, c, s;
    bool last;
};

/* The dimensions of (N, C, ...) or (N, C), in its layout. */
struct cr_channels cr_channels(const struct cr_spec *spec);

/* Elements of `room`, the working memory of the functions below. */
int64_t cr_channel_thread_scratch(const struct cr_channels *ch);

/* Mean and biased variance of each channel, c values each. */
void cr_channel_moments(const struct cr_channels *ch, const cr_real *x,
                        cr_real *room, double *mean, double *variance);

/* Sums of d and of d (x - mean) of each channel, where d is dy where y > 0 and
 * else 0; y NULL: d = dy. */
void cr_channel_sums(const struct cr_channels *ch, const cr_real *x,
                     const cr_real *mean, const cr_real *dy, const cr_real *y,
                     cr_real *room, double *sum, double *dot);

/* y = act((x - mean) scale + shift + more); more may be NULL. */
struct cr_channel_map {
    const cr_real *x, *more;
    const cr_real *mean, *scale, *shift; /* c values each */
    bool relu;
    cr_real *y;
};
void cr_channel_map(const struct cr_channels *ch,
                    const struct cr_channel_map *map, cr_real *room);

/* dx = scale (d - shift - (x - mean) slope), d as above; dmore = d. Each is
 * stored, accumulated, or not needed (NULL). slope NULL: dx = scale d. */
struct cr_channel_backward {
    const cr_real *x, *dy, *y;
    const cr_real *mean, *scale, *shift, *slope;
    cr_real *dx, *dmore;
    bool add_dx, add_more;
};
void cr_channel_backward(const struct cr_channels *ch,
                         const struct cr_channel_backward *back, cr_real *room);

/* Writes (x - mean) / sqrt(variance + eps) gamma + beta as scale x + shift, c
 * values each, to fold it into the layer before in prediction. */
void cr_channel_affine(int64_t c, double eps, const cr_real *gamma,
                       const cr_real *beta, const cr_real *mean,
                       const cr_real *variance, cr_real *scale, cr_real *shift);

#endif

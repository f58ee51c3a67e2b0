/*
 * Sums and sweeps per channel, of tensors (n, c, s) or, with channels last,
 * (n, s, c): what normalisation over a batch is made of.
 *
 * Sums run over fixed blocks of the tensor, in cr_real within a block and in
 * double over the blocks, whose borders depend on the shape alone: results
 * do not depend on the number of threads.
 */
#ifndef CR_MATH_CHANNEL_H
#define CR_MATH_CHANNEL_H

#include "math/spec.h"

struct cr_channels {
    int64_t n, c, s;
    bool last;
};

/* (N, C, ...) in its layout; (N, C) too. */
struct cr_channels cr_channels(const struct cr_spec *spec);

/* Elements of room that the functions below ask for, per call. */
int64_t cr_channel_thread_scratch(const struct cr_channels *ch);

/* Mean and biased variance of each channel: two rows of c doubles. */
void cr_channel_moments(const struct cr_channels *ch, const cr_real *x,
                        cr_real *room, double *mean, double *variance);

/* sum d and sum d (x - mean) of each channel, d = dy where y > 0, or
 * everywhere when y is NULL. */
void cr_channel_sums(const struct cr_channels *ch, const cr_real *x,
                     const cr_real *mean, const cr_real *dy, const cr_real *y,
                     cr_real *room, double *sum, double *dot);

/* y = act((x - mean) scale + shift + more); more may be NULL. */
struct cr_channel_map {
    const cr_real *x, *more;
    const cr_real *mean, *scale, *shift; /* c each */
    bool relu;
    cr_real *y;
};
void cr_channel_map(const struct cr_channels *ch,
                    const struct cr_channel_map *map, cr_real *room);

/* dx = scale (d - shift - (x - mean) slope), d as above; dmore = d. Each of
 * them is stored, added to what is there, or not asked for (NULL). slope NULL:
 * dx = scale d. */
struct cr_channel_backward {
    const cr_real *x, *dy, *y;
    const cr_real *mean, *scale, *shift, *slope;
    cr_real *dx, *dmore;
    bool add_dx, add_more;
};
void cr_channel_backward(const struct cr_channels *ch,
                         const struct cr_channel_backward *back, cr_real *room);

/* (x - mean) / sqrt(variance + eps) gamma + beta as scale x + shift, c each:
 * what a layer before it can take over in prediction. */
void cr_channel_affine(int64_t c, double eps, const cr_real *gamma,
                       const cr_real *beta, const cr_real *mean,
                       const cr_real *variance, cr_real *scale, cr_real *shift);

#endif

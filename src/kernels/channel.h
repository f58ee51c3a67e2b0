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

#include "kernels/epilogue.h"
#include "kernels/kernel.h"
#include "num/spec.h"

/* Tensors in two bytes per number, CR_F16 or CR_BF16: x, y and dy as they are
 * read, the y and dx that are written; and what is rounded to such numbers
 * before it is stored, dx not accumulated then. */
struct cr_channel_low {
    enum cr_type type;
    bool x, y, dy, dx, rounds_y, rounds_dx;
};

struct cr_channels {
    int64_t n, c, s;
    bool last;
    size_t taken; /* bytes of each thread's scratch memory that are in use */
    const struct cr_channel_low *low; /* NULL: all is float32 */
};

#define CR_CHANNEL_RUN 1024 /* elements that are summed in cr_real */

/* Which of dy count in backward: those where the y of a ReLU is not <= 0. y as
 * it lies; or NULL, and computed again as (x - mean) scale + shift, of c values
 * each, or of those from one channel on; if they are NULL, too, all count.
 * With grad, the gradient of another activation of that number, it makes of dy
 * what counts; `map` is the activation if grad reads its result. Sums store
 * what counts in d unless that is NULL. */
struct cr_channel_mask {
    const cr_real *y, *scale, *shift;
    cr_map *map;
    cr_map_grad *grad;
    const void *attr;
    cr_real *d;
};

/* Batch normalisation as a whole: forward, y = (x - mean) / sqrt(variance +
 * eps) gamma + beta, and backward, of dy. Statistics are those of the batch
 * (variance biased), which forward writes, or given ones. */
struct cr_channel_norm {
    struct cr_channels ch;
    bool batch;
    double eps;
    const cr_real *x, *gamma, *beta;
    cr_real *mean, *variance; /* c values each; backward adds no eps */
    cr_real *y;
    const cr_real *dy;
    cr_real *dx, *dgamma, *dbeta;
};

/* The loops, or the whole. Private to src/kernels and its tests. */
struct cr_channel_kernel {
    /* .accepts is given the struct cr_channel_norm, or NULL for the loops. */
    struct cr_kernel head;
    /* The whole; NULL: the loops are there. */
    void (*norm)(const struct cr_channel_norm *norm);
    void (*norm_backward)(const struct cr_channel_norm *norm);
    size_t (*thread_scratch)(const struct cr_channel_norm *norm);
    /* Mean of each channel and squares around it, into part[i] and part[c + i].
     * Channels last: of `rows` rows; plain: of one channel of n samples, `step`
     * apart. */
    void (*moments_last)(int64_t rows, int64_t c, const cr_real *x,
                         cr_real *part);
    void (*moments_plain)(int64_t n, int64_t c, int64_t s, int64_t step,
                          const cr_real *x, cr_real *part);
    /* The same of cr_channel_sums. */
    void (*sums_last)(int64_t rows, int64_t c, const cr_real *x,
                      const cr_real *mean, const cr_real *dy,
                      const struct cr_channel_mask *mask, cr_real *part);
    void (*sums_plain)(int64_t n, int64_t c, int64_t s, int64_t step,
                       const cr_real *x, cr_real mean, const cr_real *dy,
                       const struct cr_channel_mask *mask, cr_real *part);
    /* cr_channel_map and _backward over n elements: each has its own mean,
     * scale, shift and slope in param[], or all have those of channel c. d is
     * dy after the mask. */
    void (*map_many)(int64_t n, const cr_real *x, const cr_real *more,
                     const cr_real *const *param, bool relu, cr_real *y);
    void (*map_one)(int64_t n, const cr_real *x, const cr_real *more,
                    const cr_real *const *param, int64_t c, bool relu,
                    cr_real *y);
    /* d = y > 0 ? dy : 0, y given or that of map; and to = (add ? to : 0) +
     * d. */
    void (*back_mask)(int64_t n, const cr_real *dy, const cr_real *y,
                      cr_real *d);
    void (*mask_many)(int64_t n, const cr_real *x, const cr_real *dy,
                      const cr_real *const *param, cr_real *d);
    void (*mask_one)(int64_t n, const cr_real *x, const cr_real *dy,
                     const cr_real *const *param, int64_t c, cr_real *d);
    void (*back_copy)(int64_t n, const cr_real *d, bool add, cr_real *to);
    void (*back_many)(int64_t n, const cr_real *x, const cr_real *d,
                      const cr_real *const *param, bool add, cr_real *dx);
    void (*back_one)(int64_t n, const cr_real *x, const cr_real *d,
                     const cr_real *const *param, int64_t c, bool add,
                     cr_real *dx);
};

extern const struct cr_channel_kernel cr_channel_onednn, cr_channel_avx512,
    cr_channel_avx2, cr_channel_portable;

/* Name of the kernel that is chosen for a normalisation. */
const char *cr_channel_kernel_name(const struct cr_channel_norm *norm);
/* Whether one kernel computes all of it; else the functions below do. It takes
 * that many bytes of cr_thread_scratch. */
bool cr_channel_norm_is_whole(const struct cr_channel_norm *norm);
size_t cr_channel_norm_thread_scratch(const struct cr_channel_norm *norm);
void cr_channel_norm(const struct cr_channel_norm *norm);
void cr_channel_norm_backward(const struct cr_channel_norm *norm);

/* The dimensions of (N, C, ...) or (N, C), in its layout. */
struct cr_channels cr_channels(const struct cr_spec *spec);

/* Bytes that the functions ask cr_thread_scratch for, after ch->taken, where
 * ch->low is set, or a mask has a gradient. */
size_t cr_channel_low_scratch(const struct cr_channels *ch);
/* Elements of `room`, the working memory of the functions below. */
int64_t cr_channel_thread_scratch(const struct cr_channels *ch);

/* Mean and biased variance of each channel, c values each. */
void cr_channel_moments(const struct cr_channels *ch, const cr_real *x,
                        cr_real *room, double *mean, double *variance);

/* Sums of d and of d (x - mean) of each channel, where d is dy under the mask,
 * and else 0. */
void cr_channel_sums(const struct cr_channels *ch, const cr_real *x,
                     const cr_real *mean, const cr_real *dy,
                     const struct cr_channel_mask *mask, cr_real *room,
                     double *sum, double *dot);

/* y = act((x - mean) scale + shift + more); more may be NULL. act: a ReLU, or
 * any other, or none. */
struct cr_channel_map {
    const cr_real *x, *more;
    const cr_real *mean, *scale, *shift; /* c values each */
    bool relu;
    cr_map *map;
    const void *attr;
    cr_real *y;
};
void cr_channel_map(const struct cr_channels *ch,
                    const struct cr_channel_map *map, cr_real *room);

/* dx = scale d - shift - (x - mean) slope, d as above; dmore = d. Each is
 * stored, accumulated, or not needed (NULL). slope NULL: dx = scale d. */
struct cr_channel_backward {
    const cr_real *x, *dy;
    struct cr_channel_mask mask;
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

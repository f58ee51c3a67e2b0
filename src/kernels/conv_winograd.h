/*
 * Winograd convolution F(2 x 2, 3 x 3) of channels-last tensors: Lavin & Gray,
 * "Fast Algorithms for Convolutional Neural Networks", arXiv:1509.09308. A tile
 * of 2 x 2 outputs takes 16 multiplications per channel instead of 36:
 *
 *   y = A' [(G w G') . (B' x B)] A      x: 4 x 4 pixels of the source
 *
 * Its gradient by the weight is the adjoint, dw = G' [(B' x B) . (A dy A')] G.
 * The products of the 16 points of a tile, summed over channels (or tiles), are
 * 16 matrix products. conv_winograd.inc has the kernels, conv_winograd.c
 * prepares their arguments. Private to src/kernels.
 */
#ifndef CR_KERNELS_CONV_WINOGRAD_H
#define CR_KERNELS_CONV_WINOGRAD_H

#include "kernels/conv.h"

/* Channels of a transformed source lie in blocks of this many. */
#define CR_WINOGRAD_BLOCK 16
#define CR_WINOGRAD_POINTS 16

/* A source (n, h, w, channels) of which tile (i, j) reads rows from 2 i - top
 * and columns from 2 j - left on, and zeros outside. */
struct cr_winograd_source {
    const void *x;
    enum cr_type stored; /* CR_REAL, or the type that takes two bytes */
    int64_t n, h, w, channels;
    int64_t top, left;
    int64_t tile_rows, tile_cols;
    int64_t rows, cols, parts; /* of tiles worked on at once; parts of a row */
};

struct cr_winograd_apply {
    struct cr_winograd_source s;
    int64_t rows, cols, cout; /* of y */
    const cr_real *u;         /* [set of two vectors][point][channel][lane] */
    void *y;
    struct cr_epilogue end;
    enum cr_type y_stored, mask_stored; /* as .stored of a source */
    size_t room; /* of a thread */
};

/* Sums over the tiles of a chunk of the batch, per unit: a group of blocks of
 * channels and a group of sets of output channels, each of two vectors:
 *
 *   [chunk][unit][point][set][block][16 channels][2 vectors]
 */
struct cr_winograd_sums {
    struct cr_winograd_source s;
    const void *dy;
    enum cr_type dy_stored;
    int64_t rows, cols, cout;
    int64_t chunks, c_groups, k_groups;
    int64_t unit_blocks, unit; /* most blocks of a unit; its numbers */
    cr_real *to;
    cr_real alpha, *dw;
    bool add;
    size_t room;
};

/* u of w (co, ci, 3, 3); turned: of the gradient of the input, whose output
 * channels are ci. */
struct cr_winograd_weights {
    const cr_real *w;
    int64_t co, ci;
    bool turned;
    cr_real *u;
};

/* Numbers from one point's plane to the next: an odd number of cache lines, or
 * points would share few sets of the cache. */
static inline int64_t cr_winograd_plane(int64_t numbers)
{
    return ((numbers + 15) / 16 | 1) * 16;
}

typedef void cr_winograd_apply_part(const struct cr_winograd_apply *a, int task,
                                    int n_tasks);
typedef void cr_winograd_sums_part(const struct cr_winograd_sums *s, int task,
                                   int n_tasks);
typedef void cr_winograd_weights_part(const struct cr_winograd_weights *w,
                                      int task, int n_tasks);

cr_winograd_apply_part cr_winograd_apply_avx512, cr_winograd_apply_avx2;
cr_winograd_sums_part cr_winograd_sums_avx512, cr_winograd_sums_avx2,
    cr_winograd_reduce_avx512, cr_winograd_reduce_avx2;
cr_winograd_weights_part cr_winograd_weights_avx512, cr_winograd_weights_avx2;

#endif

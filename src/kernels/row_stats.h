/*
 * Sums along rows and over rows, for normalisation within a sample. Results do
 * not depend on the number of threads.
 */
#ifndef CR_KERNELS_ROW_STATS_H
#define CR_KERNELS_ROW_STATS_H

#include "kernels/kernel.h"
#include "num/real.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Normalisation of rows as a whole: forward, y = (x - mean) r gamma + beta with
 * r = 1 / sqrt(variance + eps), and backward, of dy. */
struct cr_row_norm {
    int64_t rows, n;
    double eps;
    const cr_real *x, *gamma, *beta; /* gamma, beta: n each */
    cr_real *mean, *r;               /* one of each row; read by backward */
    cr_real *y;
    const cr_real *dy;
    cr_real *dx;
    cr_real *part; /* (cr_row_blocks(rows), 2, n): dgamma, dbeta of blocks */
};

struct cr_row_kernel {
    /* .accepts is given the struct cr_row_norm, or NULL for the loops. */
    struct cr_kernel head;
    /* The whole; NULL: the loops are there. */
    void (*norm)(const struct cr_row_norm *norm);
    void (*norm_backward)(const struct cr_row_norm *norm);
    size_t (*thread_scratch)(const struct cr_row_norm *norm);

    /* Mean and biased variance of n numbers. */
    void (*moments)(int64_t n, const cr_real *x, double *mean,
                    double *variance);

    /* Sums of d and of d (x - mean), d = dy weight; weight NULL: d = dy. */
    void (*sums)(int64_t n, const cr_real *x, cr_real mean, const cr_real *dy,
                 const cr_real *weight, double *sum, double *dot);

    /* y = (x - mean) scale weight + shift; weight NULL: y = (x - mean) scale +
     * shift[0]. */
    void (*affine)(int64_t n, const cr_real *x, cr_real mean, cr_real scale,
                   const cr_real *weight, const cr_real *shift, cr_real *y);

    /* dx = scale (d - shift - (x - mean) slope), stored or accumulated;
     * d = dy weight, or dy * by if weight is NULL. */
    void (*backward)(int64_t n, const cr_real *x, cr_real mean,
                     const cr_real *dy, const cr_real *weight, cr_real by,
                     cr_real scale, cr_real shift, cr_real slope, bool add,
                     cr_real *dx);

    /* dot += dy (x - mean) scale and sum += dy, element by element. */
    void (*gather)(int64_t n, const cr_real *x, cr_real mean, cr_real scale,
                   const cr_real *dy, cr_real *dot, cr_real *sum);
};

extern const struct cr_row_kernel cr_row_onednn, cr_row_avx2, cr_row_portable;

/* The one that is chosen: of loops, or for a normalisation as a whole. */
const struct cr_row_kernel *cr_row_kernel(void);
const struct cr_row_kernel *cr_row_norm_kernel(const struct cr_row_norm *norm);

/* Blocks of rows for sums over rows: rows per block and number of blocks, which
 * depend on the number of rows only. Block b starts at row
 * b * cr_row_block(rows). */
int64_t cr_row_block(int64_t rows);
int64_t cr_row_blocks(int64_t rows);
/* to[j] = (add ? to[j] : 0) + sum over b of part[b * stride + j]. */
void cr_row_reduce(int64_t blocks, int64_t stride, int64_t n,
                   const cr_real *part, bool add, cr_real *to);

#endif

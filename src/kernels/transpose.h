/*
 * Transposing a matrix of elements of 1, 2, 4 or 8 bytes, whose values do not
 * matter: between channels first and channels last.
 */
#ifndef CR_KERNELS_TRANSPOSE_H
#define CR_KERNELS_TRANSPOSE_H

#include "kernels/kernel.h"

#include <stddef.h>
#include <stdint.h>

/* x or a part of it. */
struct cr_transposed {
    int64_t rows, cols;
    int64_t x_stride, y_stride; /* elements from a row of x, of y to the next */
    size_t size;                /* of an element */
};

/* y = x' */
typedef void cr_transpose_run(const struct cr_transposed *t, const void *x,
                              void *y);

/* The fastest for that matrix and its tiles. */
cr_transpose_run *cr_transpose_kernel(const struct cr_transposed *t);

/* Tiles of a matrix, which stay in the cache, and which threads share out: the
 * rows and columns of each but the last ones. */
#define CR_TRANSPOSE_TILE 8192 /* elements, at most */
void cr_transpose_tile(const struct cr_transposed *t, int64_t *rows,
                       int64_t *cols);

/* ---- private to src/kernels ---- */

struct cr_transpose_kernel {
    struct cr_kernel head; /* .accepts is given the struct cr_transposed */
    cr_transpose_run *run;
};

/* Matrices of 2 to 8 rows or columns. */
extern const struct cr_transpose_kernel cr_transpose_avx512;
extern const struct cr_transpose_kernel cr_transpose_avx2;
/* In plain C. */
cr_transpose_run cr_transpose_plain;

#endif

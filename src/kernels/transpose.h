/*
 * Transposing a matrix of elements of 1, 2, 4 or 8 bytes, whose values do not
 * matter: between channels first and channels last.
 */
#ifndef CR_KERNELS_TRANSPOSE_H
#define CR_KERNELS_TRANSPOSE_H

#include "kernels/kernel.h"

#include <stddef.h>
#include <stdint.h>

#define CR_TRANSPOSE_STRIPE 16

struct cr_transpose {
    int64_t rows, cols; /* of x */
    size_t size;        /* of an element */
};

/* y (cols, rows) = x', as far as columns from..to - 1 of x: a stripe of at most
 * CR_TRANSPOSE_STRIPE, so that threads can share a matrix. */
typedef void cr_transpose_stripe(const struct cr_transpose *t, int64_t from,
                                 int64_t to, const void *x, void *y);

/* The fastest for that matrix. */
cr_transpose_stripe *cr_transpose_kernel(const struct cr_transpose *t);

/* ---- private to src/kernels ---- */

struct cr_transpose_kernel {
    struct cr_kernel head; /* .accepts is given the struct cr_transpose */
    cr_transpose_stripe *stripe;
};

/* Matrices of 2 to 8 rows or columns of 4 bytes. */
extern const struct cr_transpose_kernel cr_transpose_avx512;

#endif

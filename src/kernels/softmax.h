/*
 * Softmax of lines, and its logarithm:
 *
 *   y_c = exp(x_c - m) / sum_j exp(x_j - m),  m = max x
 *   dx_c = y_c (dy_c - sum_j dy_j y_j),  or of the logarithm
 *   dx_c = dy_c - exp(y_c) sum_j dy_j
 */
#ifndef CR_KERNELS_SOFTMAX_H
#define CR_KERNELS_SOFTMAX_H

#include "kernels/kernel.h"
#include "num/real.h"

#include <stdint.h>

#define CR_SOFTMAX_COLS 512 /* most lines side by side */

/* What `rows` is asked for; backward is never the library's. */
struct cr_softmax_rows {
    int64_t n;
    bool logarithm;
};

struct cr_softmax_kernel {
    /* .accepts is given a struct cr_softmax_rows, or NULL for the others. */
    struct cr_kernel head;
    /* y = softmax of a line of n numbers; returns the logarithm of the sum of
     * exp(x - m), and m in *top. */
    double (*line)(int64_t n, const cr_real *x, cr_real *y, cr_real *top);
    /* The same of `lines` of them, one after the other, or its logarithm. */
    void (*rows)(int64_t lines, int64_t n, const cr_real *x, cr_real *y,
                 bool logarithm);
    /* Side by side: element c of line i at c * inner + i. */
    void (*cols)(int64_t n, int64_t inner, int64_t lines, const cr_real *x,
                 cr_real *y, bool logarithm);
    /* Stored, or added to dx. */
    void (*row_backward)(int64_t n, const cr_real *y, const cr_real *dy,
                         bool logarithm, bool add, cr_real *dx);
    void (*cols_backward)(int64_t n, int64_t inner, int64_t lines,
                          const cr_real *y, const cr_real *dy, bool logarithm,
                          bool add, cr_real *dx);
};

extern const struct cr_softmax_kernel cr_softmax_onednn, cr_softmax_avx512,
    cr_softmax_avx2, cr_softmax_portable;

/* The one that is chosen, and that whose `rows` are. */
const struct cr_softmax_kernel *cr_softmax_kernel(void);
const struct cr_softmax_kernel *
cr_softmax_rows_kernel(const struct cr_softmax_rows *rows);

#endif

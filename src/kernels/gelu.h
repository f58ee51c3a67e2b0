/*
 * GELU (Hendrycks and Gimpel, arXiv:1606.08415) and its gradient over a stretch
 * of elements: y = x P(x), with P the normal distribution function.
 *
 * The error of y is below 1.5e-7 |x|, that of dy/dx below 3e-7. For |x| >= 6 y
 * is x or 0, and dy/dx is 1 or 0. NaN gives NaN.
 */
#ifndef CR_KERNELS_GELU_H
#define CR_KERNELS_GELU_H

#include "kernels/kernel.h"
#include "num/real.h"

#include <stdint.h>

/* Name of the kernel that computes both. */
const char *cr_gelu_kernel_name(void);
void cr_gelu(int64_t n, const cr_real *x, cr_real *y);
/* d = dy times the slope at x; d may be dy. */
void cr_gelu_grad(int64_t n, const cr_real *x, const cr_real *dy, cr_real *d);

/* ---- private to src/kernels ---- */

struct cr_gelu_kernel {
    struct cr_kernel head;
    void (*map)(int64_t n, const cr_real *x, cr_real *y);
    void (*grad)(int64_t n, const cr_real *x, const cr_real *dy, cr_real *d);
};

extern const struct cr_gelu_kernel cr_gelu_avx512, cr_gelu_avx2;

#endif

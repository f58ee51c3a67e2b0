/*
 * exp, exp - 1, sigmoid, SiLU and tanh over a stretch of elements, for ops that
 * make something of them: loops over num/vec_math.h are one chain of steps for
 * each vector, and the chains of the next ones do not fit the processor's
 * queue.
 *
 * The error is that of num/vec_math.h: below 2.5 units in the last place for
 * sigmoid, below 2 for the others, where the result is no denormal number; and
 * below 3 for SiLU, where sigmoid is none. AVX2 and AVX-512 give the same
 * bytes. sigmoid is 0 where exp(-x) overflows. NaN gives NaN. An element's
 * result does not depend on its place. y may be x.
 */
#ifndef CR_KERNELS_EXP_H
#define CR_KERNELS_EXP_H

#include "kernels/kernel.h"
#include "num/real.h"

#include <stdint.h>

typedef void cr_exp_map(int64_t n, const cr_real *x, cr_real *y);

struct cr_exp_kernel {
    struct cr_kernel head;
    cr_exp_map *exp, *expm1, *sigmoid, *silu, *tanh;
};

/* The one that is used. */
const struct cr_exp_kernel *cr_exp_kernel(void);

/* ---- private to src/kernels ---- */

extern const struct cr_exp_kernel cr_exp_avx512, cr_exp_avx2;

#endif

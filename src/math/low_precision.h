/* The numbers of float16 and bfloat16, held as what networks compute in. */
#ifndef CR_MATH_LOW_PRECISION_H
#define CR_MATH_LOW_PRECISION_H

#include "math/spec.h"

/* y = x rounded to the nearest number of CR_F16 or CR_BF16, ties to even.
 * Beyond the largest comes infinity (65520 and on for float16); NaN stays.
 * y may be x. */
void cr_round_to_type(enum cr_type to, int64_t n, const cr_real *x, cr_real *y);

#endif

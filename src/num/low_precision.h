/* Rounding of cr_real values to float16 and bfloat16. */
#ifndef CR_NUM_LOW_PRECISION_H
#define CR_NUM_LOW_PRECISION_H

#include "num/spec.h"

/* y = x rounded to CR_F16 or CR_BF16, to nearest, ties to even. Values above
 * the range become infinity (float16: from 65520 on); NaN stays NaN. y may
 * be x. */
void cr_round_to_type(enum cr_type to, int64_t n, const cr_real *x, cr_real *y);

#endif

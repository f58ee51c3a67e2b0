/* Rounding of cr_real values to float16 and bfloat16, and their bits. */
#ifndef CR_NUM_LOW_PRECISION_H
#define CR_NUM_LOW_PRECISION_H

#include "num/spec.h"

/* y = x rounded to CR_F16 or CR_BF16, to nearest, ties to even. Values above
 * the range become infinity (float16: from 65520 on); NaN stays NaN. y may
 * be x. */
void cr_round_to_type(enum cr_type to, int64_t n, const cr_real *x, cr_real *y);

/* Memory of two bytes per value: y = x rounded likewise, as the bits of CR_F16
 * or CR_BF16; and back, which is exact. A NaN stays one, perhaps another. */
void cr_narrow(enum cr_type to, int64_t n, const cr_real *x, uint16_t *y);
void cr_widen(enum cr_type from, int64_t n, const uint16_t *x, cr_real *y);

#endif

/* Depthwise convolutions in vectors of 8, for processors with AVX2 and FMA. */
#include "kernels/conv_depthwise.h"

#if defined(__x86_64__) && !defined(CR_DOUBLE)

#include "kernels/simd_avx2.h"

#define KERNEL_APPLY cr_depthwise_apply_avx2
#define KERNEL_SUMS cr_depthwise_sums_avx2

#include "kernels/conv_depthwise.inc"

#endif

/* Depthwise convolutions in vectors of 16, for processors with AVX-512. */
#include "kernels/conv_depthwise.h"

#if defined(__x86_64__) && !defined(CR_DOUBLE)

#include "kernels/simd_avx512.h"

#define KERNEL_APPLY cr_depthwise_apply_avx512
#define KERNEL_SUMS cr_depthwise_sums_avx512

#include "kernels/conv_depthwise.inc"

#endif

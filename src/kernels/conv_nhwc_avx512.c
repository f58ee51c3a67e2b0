/* Direct convolutions in vectors of 16, for processors with AVX-512. */
#include "kernels/conv_nhwc.h"

#if defined(__x86_64__) && !defined(CR_DOUBLE)

#include "kernels/simd_avx512.h"

#define KERNEL_APPLY cr_conv_nhwc_apply_avx512
#define KERNEL_SUMS cr_conv_nhwc_sums_avx512
#define KERNEL_REDUCE cr_conv_nhwc_reduce_avx512
#include "kernels/conv_tiles_avx512.h"

#include "kernels/conv_nhwc.inc"

#endif

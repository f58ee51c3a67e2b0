/* Direct convolutions in vectors of 8, for processors with AVX2 and FMA. */
#include "kernels/conv_nhwc.h"

#if defined(__x86_64__) && !defined(CR_DOUBLE)

#include "kernels/simd_avx2.h"

#define KERNEL_APPLY cr_conv_nhwc_apply_avx2
#define KERNEL_SUMS cr_conv_nhwc_sums_avx2
#define KERNEL_REDUCE cr_conv_nhwc_reduce_avx2
#include "kernels/conv_tiles_avx2.h"

#include "kernels/conv_nhwc.inc"

#endif

/* Winograd convolutions in vectors of 8, for processors with AVX2 and FMA. */
#include "kernels/conv_winograd.h"

#if defined(__x86_64__) && !defined(CR_DOUBLE)

#include "kernels/conv_tiles_avx2.h"
#include "kernels/simd_avx2.h"

#define KERNEL_APPLY cr_winograd_apply_avx2
#define KERNEL_SUMS cr_winograd_sums_avx2
#define KERNEL_REDUCE cr_winograd_reduce_avx2
#define KERNEL_WEIGHTS cr_winograd_weights_avx2
#define MAX_TILES MAX_PIXELS

#include "kernels/conv_winograd.inc"

#endif

/* Winograd convolutions in vectors of 16, for processors with AVX-512. */
#include "kernels/conv_winograd.h"

#if defined(__x86_64__) && !defined(CR_DOUBLE)

#include "kernels/conv_tiles_avx512.h"
#include "kernels/simd_avx512.h"

#define KERNEL_APPLY cr_winograd_apply_avx512
#define KERNEL_SUMS cr_winograd_sums_avx512
#define KERNEL_REDUCE cr_winograd_reduce_avx512
#define KERNEL_WEIGHTS cr_winograd_weights_avx512
#define MAX_TILES MAX_PIXELS

#include "kernels/conv_winograd.inc"

#endif

/* Winograd convolutions in vectors of 8, for processors with AVX2 and FMA. */
#include "kernels/conv_winograd.h"

#if defined(__x86_64__) && !defined(CR_DOUBLE)

#include "kernels/simd_avx2.h"

#define KERNEL_APPLY cr_winograd_apply_avx2
#define KERNEL_SUMS cr_winograd_sums_avx2
#define KERNEL_REDUCE cr_winograd_reduce_avx2
#define KERNEL_WEIGHTS cr_winograd_weights_avx2
#define MAX_TILES 1, 12, 6
#define TILES \
    T(1, 1)   \
    T(2, 1)   \
    T(3, 1)   \
    T(4, 1)   \
    T(5, 1)   \
    T(6, 1)   \
    T(7, 1)   \
    T(8, 1)   \
    T(9, 1)   \
    T(10, 1) T(11, 1) T(12, 1) T(1, 2) T(2, 2) T(3, 2) T(4, 2) T(5, 2) T(6, 2)
#define SUMS \
    T(1, 1)  \
    T(2, 1)  \
    T(3, 1)  \
    T(4, 1)  \
    T(5, 1) T(6, 1) T(7, 1) T(8, 1) T(1, 2) T(2, 2) T(3, 2) T(4, 2) 
#define SUM_CHANNELS 1, 8, 4

#include "kernels/conv_winograd.inc"

#endif

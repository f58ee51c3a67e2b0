/* Products in vectors of 8, for processors with AVX2 and FMA. */
#include "kernels/gemm.h"

#include "base/compiler.h"

#if defined(__x86_64__) && !defined(CR_DOUBLE)

#include "kernels/simd_avx2.h"

#define KERNEL_NAME cr_gemm_avx2
#define KERNEL_SUM cr_sum_avx2
#define KERNEL_ROOM cr_gemm_thread_scratch_avx2
#define WIDE 3
#define MAX_ROWS 1, 8, 6, 4
#define TILES                                                               \
    T(1, 1)                                                                 \
    T(2, 1) T(3, 1) T(4, 1) T(5, 1) T(6, 1) T(7, 1) T(8, 1) T(1, 2) T(2, 2) \
        T(3, 2) T(4, 2) T(5, 2) T(6, 2) T(1, 3) T(2, 3) T(3, 3) T(4, 3)

#include "kernels/gemm.inc"

#endif

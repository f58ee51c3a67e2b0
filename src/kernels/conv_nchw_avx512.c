/* Planar convolutions in vectors of 16. */
#include "kernels/conv_nchw.h"

#if defined(__x86_64__) && !defined(CR_DOUBLE)

#include "kernels/simd_avx512.h"

#define KERNEL_APPLY cr_conv_nchw_apply_avx512
#define KERNEL_SUMS cr_conv_nchw_sums_avx512
#define KERNEL_REDUCE cr_conv_nchw_reduce_avx512
#define SUM_TAPS 5
#define NCHW_SUMS                                                           \
    T(1, 1)                                                                 \
    T(1, 2) T(1, 3) T(1, 4) T(1, 5) T(2, 1) T(2, 2) T(2, 3) T(2, 4) T(2, 5) \
        T(3, 1) T(3, 2) T(3, 3) T(3, 4) T(3, 5) T(4, 1) T(4, 2) T(4, 3)     \
            T(4, 4) T(4, 5)
#define ROWS 0, 4, 4, 4, 4, 0, 4, 0, 3
#define OUTS                                                                \
    T(1, 1)                                                                 \
    T(1, 2)                                                                 \
    T(1, 3)                                                                 \
    T(1, 4)                                                                 \
    T(2, 1)                                                                 \
    T(2, 2) T(2, 3) T(2, 4) T(3, 1) T(3, 2) T(3, 3) T(3, 4) T(4, 1) T(4, 2) \
        T(4, 3) T(4, 4) T(6, 1) T(6, 2) T(6, 3) T(6, 4) T(8, 1) T(8, 2)     \
            T(8, 3)
#define V_SUM(x) _mm512_reduce_add_ps(x)

#include "kernels/conv_nchw.inc"

#endif

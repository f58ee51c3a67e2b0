/* Planar convolutions in vectors of 8. */
#include "kernels/conv_nchw.h"

#if defined(__x86_64__) && !defined(CR_DOUBLE)

#include "kernels/simd_avx2.h"

#define KERNEL_APPLY cr_conv_nchw_apply_avx2
#define KERNEL_SUMS cr_conv_nchw_sums_avx2
#define KERNEL_REDUCE cr_conv_nchw_reduce_avx2
#define SUM_TAPS 3 /* as many as registers hold */
#define NCHW_SUMS                                                        \
    T(1, 1)                                                              \
    T(1, 2) T(1, 3) T(2, 1) T(2, 2) T(2, 3) T(3, 1) T(3, 2) T(3, 3)      \
        T(4, 1) T(4, 2) T(4, 3)
#define ROWS 0, 4, 4, 3, 3, 0, 2, 0, 1
#define OUTS                                                                \
    T(1, 1)                                                                 \
    T(1, 2)                                                                 \
    T(1, 3)                                                                 \
    T(1, 4)                                                                 \
    T(2, 1)                                                                 \
    T(2, 2) T(2, 3) T(2, 4) T(3, 1) T(3, 2) T(3, 3) T(4, 1) T(4, 2) T(4, 3) \
        T(6, 1) T(6, 2) T(8, 1)
#define V_SUM(x) planar_total(x)

KERNEL CR_INLINE float planar_total(__m256 x)
{
    __m128 y =
        _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));

    y = _mm_add_ps(y, _mm_movehl_ps(y, y));
    y = _mm_add_ss(y, _mm_movehdup_ps(y));
    return _mm_cvtss_f32(y);
}

#include "kernels/conv_nchw.inc"

#endif

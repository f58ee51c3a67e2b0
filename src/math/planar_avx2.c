/* Planar convolutions in vectors of 8. */
#include "math/planar.h"

#include "base/attr.h"

#if defined(__x86_64__) && !defined(CR_DOUBLE)

#include <immintrin.h>

#define KERNEL CR_TARGET("avx2,fma")
#define KERNEL_GATHER cr_planar_gather_avx2
#define KERNEL_SUMS cr_planar_sums_avx2
#define KERNEL_REDUCE cr_planar_reduce_avx2
#define LANES 8
#define ROWS 0, 4, 4, 3, 2, 0, 1, 0, 1
#define OUTS                                                                \
    T(1, 1)                                                                 \
    T(1, 2)                                                                 \
    T(1, 3)                                                                 \
    T(1, 4) T(2, 1) T(2, 2) T(2, 3) T(2, 4) T(3, 1) T(3, 2) T(3, 3) T(4, 1) \
        T(4, 2) T(6, 1) T(8, 1)
#define V_SUM(x) planar_total(x)
#define V_ZERO() _mm256_setzero_ps()
#define V_SET(x) _mm256_set1_ps(x)
#define V_LOAD(p) _mm256_loadu_ps(p)
#define V_STORE(p, x) _mm256_storeu_ps(p, x)
#define V_FIRST(n)                           \
    _mm256_cmpgt_epi32(_mm256_set1_epi32(n), \
                       _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7))
#define V_LOAD_M(p, m) _mm256_maskload_ps(p, m)
#define V_STORE_M(p, m, x) _mm256_maskstore_ps(p, m, x)
#define V_ADD(x, y) _mm256_add_ps(x, y)
#define V_FMA(x, y, z) _mm256_fmadd_ps(x, y, z)
#define V_RELU(x) _mm256_max_ps(_mm256_setzero_ps(), x) /* NaN stays */
#define V_MASK(x, y) \
    _mm256_and_ps(x, _mm256_cmp_ps(y, _mm256_setzero_ps(), _CMP_NLE_UQ))

typedef __m256 vec;
typedef __m256i mask;

KERNEL CR_INLINE float planar_total(__m256 x)
{
    __m128 y =
        _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));

    y = _mm_add_ps(y, _mm_movehl_ps(y, y));
    y = _mm_add_ss(y, _mm_movehdup_ps(y));
    return _mm_cvtss_f32(y);
}

#include "math/planar.inc"

#endif

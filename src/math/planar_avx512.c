/* Planar convolutions in vectors of 16. */
#include "math/planar.h"

#include "base/attr.h"

#if defined(__x86_64__) && !defined(CR_DOUBLE)

#include <immintrin.h>

#define KERNEL CR_TARGET("avx512f,avx512vl,avx512bw,avx512dq,avx2,fma")
#define KERNEL_GATHER cr_planar_gather_avx512
#define KERNEL_SUMS cr_planar_sums_avx512
#define KERNEL_REDUCE cr_planar_reduce_avx512
#define LANES 16
#define ROWS 0, 4, 4, 4, 4, 0, 4, 0, 3
#define OUTS                                                                \
    T(1, 1)                                                                 \
    T(1, 2)                                                                 \
    T(1, 3)                                                                 \
    T(1, 4) T(2, 1) T(2, 2) T(2, 3) T(2, 4) T(3, 1) T(3, 2) T(3, 3) T(3, 4) \
        T(4, 1) T(4, 2) T(4, 3) T(4, 4) T(6, 1) T(6, 2) T(6, 3) T(6, 4)     \
            T(8, 1) T(8, 2) T(8, 3)
#define V_SUM(x) _mm512_reduce_add_ps(x)
#define V_ZERO() _mm512_setzero_ps()
#define V_SET(x) _mm512_set1_ps(x)
#define V_LOAD(p) _mm512_loadu_ps(p)
#define V_STORE(p, x) _mm512_storeu_ps(p, x)
#define V_FIRST(n) ((__mmask16)((1u << (n)) - 1))
#define V_LOAD_M(p, m) _mm512_maskz_loadu_ps(m, p)
#define V_STORE_M(p, m, x) _mm512_mask_storeu_ps(p, m, x)
#define V_ADD(x, y) _mm512_add_ps(x, y)
#define V_FMA(x, y, z) _mm512_fmadd_ps(x, y, z)
#define V_RELU(x) _mm512_max_ps(_mm512_setzero_ps(), x) /* NaN stays */
#define V_MASK(x, y)     \
    _mm512_maskz_mov_ps( \
        _mm512_cmp_ps_mask(y, _mm512_setzero_ps(), _CMP_NLE_UQ), x)

typedef __m512 vec;
typedef __mmask16 mask;

#include "math/planar.inc"

#endif

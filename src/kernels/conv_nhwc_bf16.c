/*
 * Direct convolutions of pairs of bfloat16, for processors with AVX512-BF16:
 * vdpbf16ps adds two products to each of 16 sums. As in gemm_bf16.c products
 * are exact, sums are float32, and subnormal numbers count as zero.
 */
#include "kernels/conv_nhwc.h"

#if defined(__x86_64__) && !defined(CR_DOUBLE)

#include "kernels/simd_avx512.h"

#undef KERNEL
#define KERNEL \
    CR_TARGET("avx512f,avx512vl,avx512bw,avx512dq,avx512bf16,avx2,fma")

#define V_DOT(x, y, sum) _mm512_dpbf16_ps(sum, (__m512bh)(x), (__m512bh)(y))
/* The first number of a pair, and zero. */
#define V_SET_FIRST(x)                                                  \
    _mm512_castsi512_ps(_mm512_and_si512(_mm512_castps_si512(V_SET(x)), \
                                         _mm512_set1_epi32(0xffff)))

#include "kernels/conv_nhwc_pairs.inc"

/* Two columns of dy, or one and zeros. */
KERNEL CR_INLINE void direct_dy(enum cr_type stored, const char *dy,
                                int64_t dy_col, int cols, int vecs,
                                vec_mask last, vec d[2])
{
    int64_t size = stored == CR_REAL ? sizeof(cr_real) : sizeof(uint16_t);
    int v;

#pragma GCC unroll 2
    for (v = 0; v < vecs; v++) {
        __mmask16 which = v + 1 < vecs ? (__mmask16)0xffff : last;
        const char *at = dy + v * LANES * size;

        d[v] = pair_up(pair_read(at, stored, which),
                       cols == 1 ? _mm256_setzero_si256()
                                 : pair_read(at + dy_col, stored, which));
    }
}

#define KERNEL_APPLY cr_conv_nhwc_apply_bf16
#define KERNEL_SUMS cr_conv_nhwc_sums_bf16
#include "kernels/conv_tiles_avx512.h"

#include "kernels/conv_nhwc.inc"

#endif

/* Vectors of 8 floats, as simd_avx512.h. Private to src/kernels. */
#ifndef CR_KERNELS_SIMD_AVX2_H
#define CR_KERNELS_SIMD_AVX2_H

#include "base/compiler.h"
#include "num/low_precision.h"
#include "num/real.h"

#if defined(__x86_64__) && !defined(CR_DOUBLE)

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#define KERNEL CR_TARGET("avx2,fma,f16c")
#define LANES 8
#define V_ZERO() _mm256_setzero_ps()
#define V_SET(x) _mm256_set1_ps(x)
#define V_LOAD(p) _mm256_loadu_ps(p)
#define V_STORE(p, x) _mm256_storeu_ps(p, x)
#define V_LOAD_M(p, m) _mm256_maskload_ps(p, m)
#define V_FIRST(n) simd_first_mask(n)
#define V_LOAD_N(p, n) ((n) == 8 ? V_LOAD(p) : V_LOAD_M(p, V_FIRST(n)))
#define V_STORE_N(p, n, x) \
    ((n) == 8 ? V_STORE(p, x) : simd_store_first(p, n, x))
/* The first n lanes, of which m is the mask. */
#define V_STORE_SOME(p, n, m, x) ((void)(m), simd_store_first(p, n, x))
#define V_MASKED_STORE_IS_SLOW 1 /* microcode, on AMD */
#define V_ADD(x, y) _mm256_add_ps(x, y)
#define V_SUB(x, y) _mm256_sub_ps(x, y)
#define V_MUL(x, y) _mm256_mul_ps(x, y)
#define V_DIV(x, y) _mm256_div_ps(x, y)
/* Where one of both is NaN, the second. */
#define V_MIN(x, y) _mm256_min_ps(x, y)
#define V_MAX(x, y) _mm256_max_ps(x, y)
#define V_FMA(x, y, z) _mm256_fmadd_ps(x, y, z)
/* |x|; x >= 0 with the sign of y; 2^n, 127 + n the last bits of t */
#define V_ABS(x) _mm256_andnot_ps(_mm256_set1_ps(-0.0f), x)
#define V_SIGN(x, y) \
    _mm256_or_ps(x, _mm256_and_ps(y, _mm256_set1_ps(-0.0f)))
#define V_TWO_TO(t) \
    _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(t), 23))
/* y in lanes where x >= by, else z */
#define V_WHERE_OVER(x, by, y, z) \
    _mm256_blendv_ps(z, y, _mm256_cmp_ps(x, by, _CMP_GE_OQ))
#define V_RELU(x) _mm256_max_ps(_mm256_setzero_ps(), x) /* NaN stays */
#define V_TO_6(x) V_MIN(V_SET(6), x) /* so does it here */
#define SIMD_TO_F16(x) \
    _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
#define V_MASK(x, y) \
    _mm256_and_ps(x, _mm256_cmp_ps(y, _mm256_setzero_ps(), _CMP_NLE_UQ))

typedef __m256 vec;
typedef __m256i vec_mask;

KERNEL CR_INLINE __m256i simd_first_mask(int n)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n),
                              _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

KERNEL CR_INLINE void simd_store_first(cr_real *p, int n, __m256 x)
{
    __m128 half = _mm256_castps256_ps128(x);

    if (n & 8) {
        V_STORE(p, x);
        return;
    }
    if (n & 4) {
        _mm_storeu_ps(p, half);
        half = _mm256_extractf128_ps(x, 1);
        p += 4;
    }
    if (n & 2) {
        _mm_storel_pi((__m64 *)(void *)p, half);
        half = _mm_movehl_ps(half, half);
        p += 2;
    }
    if (n & 1)
        _mm_store_ss(p, half);
}

/* Bits of numbers rounded to bfloat16 in their upper half; NaN is not one. */
KERNEL CR_INLINE __m256i simd_bf16_cut(__m256i bits)
{
    __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16),
                                   _mm256_set1_epi32(1));

    return _mm256_add_epi32(
        bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
}

/* x rounded to float16 or bfloat16; numbers that take two bytes, n of them. */
KERNEL CR_INLINE vec simd_round(enum cr_type to, vec x)
{
    __m256i cut;

    if (to == CR_F16)
        return _mm256_cvtph_ps(SIMD_TO_F16(x));
    cut = _mm256_and_si256(simd_bf16_cut(_mm256_castps_si256(x)),
                           _mm256_set1_epi32(~0xffff));
    return _mm256_blendv_ps(_mm256_castsi256_ps(cut), x,
                            _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
}

KERNEL CR_INLINE vec simd_widen(enum cr_type from, const uint16_t *x, int n)
{
    uint16_t first[LANES] = { 0 };
    __m128i bits;

    if (n < LANES)
        x = memcpy(first, x, (size_t)n * sizeof *x);
    bits = _mm_loadu_si128((const __m128i *)(const void *)x);
    return from == CR_F16
               ? _mm256_cvtph_ps(bits)
               : _mm256_castsi256_ps(
                     _mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
}

KERNEL CR_INLINE void simd_narrow(enum cr_type to, uint16_t *y, int n, vec x)
{
    __m256i bits = _mm256_castps_si256(x);
    uint16_t first[LANES];
    __m128i low;

    if (to == CR_F16) {
        low = SIMD_TO_F16(x);
    } else {
        /* the low half of a NaN may be all that makes it one */
        bits = _mm256_castps_si256(_mm256_blendv_ps(
            _mm256_castsi256_ps(simd_bf16_cut(bits)),
            _mm256_or_ps(x, _mm256_castsi256_ps(_mm256_set1_epi32(0x400000))),
            _mm256_cmp_ps(x, x, _CMP_UNORD_Q)));
        bits = _mm256_srli_epi32(bits, 16);
        low = _mm256_castsi256_si128(_mm256_permute4x64_epi64(
            _mm256_packus_epi32(bits, bits), 0x08));
    }
    _mm_storeu_si128((__m128i *)(void *)(n < LANES ? first : y), low);
    if (n < LANES)
        memcpy(y, first, (size_t)n * sizeof *y);
}

/* 8 x 8 numbers: pairs of rows, pairs of pairs, then halves of vectors. */
KERNEL CR_INLINE void simd_transpose(const cr_real *from, int64_t from_row,
                                     int rows, int cols, cr_real *to,
                                     int64_t ld)
{
    __m256 x[8], y[8];
    int i;

#pragma GCC unroll 8
    for (i = 0; i < 8; i++)
        x[i] = i < rows ? V_LOAD_N(from + i * from_row, cols) : V_ZERO();
#pragma GCC unroll 4
    for (i = 0; i < 8; i += 2) {
        y[i] = _mm256_unpacklo_ps(x[i], x[i + 1]);
        y[i + 1] = _mm256_unpackhi_ps(x[i], x[i + 1]);
    }
#pragma GCC unroll 2
    for (i = 0; i < 8; i += 4) {
        __m256d a = _mm256_castps_pd(y[i]), b = _mm256_castps_pd(y[i + 1]);
        __m256d c = _mm256_castps_pd(y[i + 2]), d = _mm256_castps_pd(y[i + 3]);

        x[i] = _mm256_castpd_ps(_mm256_unpacklo_pd(a, c));
        x[i + 1] = _mm256_castpd_ps(_mm256_unpackhi_pd(a, c));
        x[i + 2] = _mm256_castpd_ps(_mm256_unpacklo_pd(b, d));
        x[i + 3] = _mm256_castpd_ps(_mm256_unpackhi_pd(b, d));
    }
#pragma GCC unroll 4
    for (i = 0; i < 4; i++) {
        y[i] = _mm256_permute2f128_ps(x[i], x[4 + i], 0x20);
        y[4 + i] = _mm256_permute2f128_ps(x[i], x[4 + i], 0x31);
    }
#pragma GCC unroll 8
    for (i = 0; i < 8; i++)
        if (i < cols)
            V_STORE(to + i * ld, y[i]);
}

#endif
#endif

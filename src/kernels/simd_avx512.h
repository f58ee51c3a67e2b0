/* Vectors of 16 floats, for kernels written once for all vector lengths:
 * their type, their operations, and turning a square of them. Private to
 * src/kernels. */
#ifndef CR_KERNELS_SIMD_AVX512_H
#define CR_KERNELS_SIMD_AVX512_H

#include "base/compiler.h"
#include "num/real.h"
#include "num/spec.h"

#if defined(__x86_64__) && !defined(CR_DOUBLE)

#include <immintrin.h>
#include <stdint.h>

#define KERNEL CR_TARGET("avx512f,avx512vl,avx512bw,avx512dq,avx2,fma")
#define LANES 16
#define V_ZERO() _mm512_setzero_ps()
#define V_SET(x) _mm512_set1_ps(x)
#define V_LOAD(p) _mm512_loadu_ps(p)
#define V_STORE(p, x) _mm512_storeu_ps(p, x)
#define V_FIRST(n) ((__mmask16)((1u << (n)) - 1))
#define V_LOAD_M(p, m) _mm512_maskz_loadu_ps(m, p)
#define V_STORE_M(p, m, x) _mm512_mask_storeu_ps(p, m, x)
#define V_LOAD_N(p, n) ((n) == 16 ? V_LOAD(p) : V_LOAD_M(p, V_FIRST(n)))
#define V_MASKED_STORE_IS_SLOW 0
#define V_STORE_SOME(p, n, m, x) ((void)(n), V_STORE_M(p, m, x))
#define V_STORE_N(p, n, x) \
    ((n) == 16 ? V_STORE(p, x) : V_STORE_M(p, V_FIRST(n), x))
#define V_ADD(x, y) _mm512_add_ps(x, y)
#define V_SUB(x, y) _mm512_sub_ps(x, y)
#define V_MUL(x, y) _mm512_mul_ps(x, y)
#define V_DIV(x, y) _mm512_div_ps(x, y)
/* Where one of both is NaN, the second. */
#define V_MIN(x, y) _mm512_min_ps(x, y)
#define V_MAX(x, y) _mm512_max_ps(x, y)
#define V_FMA(x, y, z) _mm512_fmadd_ps(x, y, z)
/* |x|; x >= 0 with the sign of y; 2^n, 127 + n the last bits of t */
#define V_ABS(x) _mm512_abs_ps(x)
#define V_SIGN(x, y) \
    _mm512_or_ps(x, _mm512_and_ps(y, _mm512_set1_ps(-0.0f)))
#define V_TWO_TO(t) \
    _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_castps_si512(t), 23))
/* y in lanes where x >= by, else z */
#define V_WHERE_OVER(x, by, y, z) \
    _mm512_mask_mov_ps(z, _mm512_cmp_ps_mask(x, by, _CMP_GE_OQ), y)
#define V_RELU(x) _mm512_max_ps(_mm512_setzero_ps(), x) /* NaN stays */
#define V_TO_6(x) V_MIN(V_SET(6), x) /* so does it here */
#define V_MASK(x, y)     \
    _mm512_maskz_mov_ps( \
        _mm512_cmp_ps_mask(y, _mm512_setzero_ps(), _CMP_NLE_UQ), x)

typedef __m512 vec;
typedef __mmask16 vec_mask;

/* x rounded to float16 or bfloat16, as cr_round_to_type does it; numbers that
 * take two bytes, n of them, as cr_widen and cr_narrow. */
KERNEL CR_INLINE __m512i simd_bf16_cut(__m512i bits)
{
    __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16),
                                   _mm512_set1_epi32(1));

    return _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)),
                            odd);
}

#define SIMD_TO_F16(x)                         \
    _mm512_maskz_cvtps_ph((__mmask16)0xffff, x, \
                          _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)

KERNEL CR_INLINE vec simd_round(enum cr_type to, vec x)
{
    __m512i bits = _mm512_castps_si512(x), cut;

    if (to == CR_F16)
        return _mm512_cvtph_ps(SIMD_TO_F16(x));
    cut = _mm512_and_si512(simd_bf16_cut(bits), _mm512_set1_epi32(~0xffff));
    return _mm512_castsi512_ps(_mm512_mask_mov_epi32(
        cut, _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), bits));
}

KERNEL CR_INLINE vec simd_widen(enum cr_type from, const uint16_t *x, int n)
{
    __m256i bits = n == LANES ? _mm256_loadu_si256((const __m256i *)x)
                              : _mm256_maskz_loadu_epi16(V_FIRST(n), x);

    return from == CR_F16
               ? _mm512_cvtph_ps(bits)
               : _mm512_castsi512_ps(
                     _mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
}

KERNEL CR_INLINE void simd_narrow(enum cr_type to, uint16_t *y, int n, vec x)
{
    __m512i bits = _mm512_castps_si512(x), cut;
    __m256i low;

    if (to == CR_F16) {
        low = SIMD_TO_F16(x);
    } else {
        /* the low half of a NaN may be all that makes it one */
        cut = _mm512_mask_or_epi32(simd_bf16_cut(bits),
                                   _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q),
                                   bits, _mm512_set1_epi32(0x400000));
        low = _mm512_cvtepi32_epi16(_mm512_srli_epi32(cut, 16));
    }
    if (n == LANES)
        _mm256_storeu_si256((__m256i *)y, low);
    else
        _mm256_mask_storeu_epi16(y, V_FIRST(n), low);
}

/* 16 x 16 numbers: pairs of rows, pairs of pairs, then quarters of vectors. */
KERNEL CR_INLINE void simd_transpose(const cr_real *from, int64_t from_row,
                                     int rows, int cols, cr_real *to,
                                     int64_t ld)
{
    __mmask16 some = V_FIRST(cols);
    __m512 x[16], y[16];
    int i, j;

#pragma GCC unroll 16
    for (i = 0; i < 16; i++)
        x[i] = i < rows ? _mm512_maskz_loadu_ps(some, from + i * from_row)
                        : _mm512_setzero_ps();
#pragma GCC unroll 8
    for (i = 0; i < 16; i += 2) {
        y[i] = _mm512_unpacklo_ps(x[i], x[i + 1]);
        y[i + 1] = _mm512_unpackhi_ps(x[i], x[i + 1]);
    }
#pragma GCC unroll 4
    for (i = 0; i < 16; i += 4) {
        __m512d a = _mm512_castps_pd(y[i]), b = _mm512_castps_pd(y[i + 1]);
        __m512d c = _mm512_castps_pd(y[i + 2]), d = _mm512_castps_pd(y[i + 3]);

        x[i] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, c));
        x[i + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, c));
        x[i + 2] = _mm512_castpd_ps(_mm512_unpacklo_pd(b, d));
        x[i + 3] = _mm512_castpd_ps(_mm512_unpackhi_pd(b, d));
    }
    /* x[4 i + j] holds, in quarter q, column 4 q + j of rows 4 i .. 4 i + 3 */
#pragma GCC unroll 4
    for (j = 0; j < 4; j++) {
        __m512 a = _mm512_shuffle_f32x4(x[j], x[4 + j], 0x88);
        __m512 b = _mm512_shuffle_f32x4(x[j], x[4 + j], 0xdd);
        __m512 c = _mm512_shuffle_f32x4(x[8 + j], x[12 + j], 0x88);
        __m512 d = _mm512_shuffle_f32x4(x[8 + j], x[12 + j], 0xdd);

        y[j] = _mm512_shuffle_f32x4(a, c, 0x88);
        y[4 + j] = _mm512_shuffle_f32x4(b, d, 0x88);
        y[8 + j] = _mm512_shuffle_f32x4(a, c, 0xdd);
        y[12 + j] = _mm512_shuffle_f32x4(b, d, 0xdd);
    }
#pragma GCC unroll 16
    for (i = 0; i < 16; i++)
        if (i < cols)
            _mm512_storeu_ps(to + i * ld, y[i]);
}

#endif
#endif

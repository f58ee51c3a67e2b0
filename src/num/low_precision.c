#include "num/low_precision.h"

#include <assert.h>
#include <string.h>

#include "base/compiler.h"
#include "base/cpu.h"

#if defined(__x86_64__) && !defined(CR_DOUBLE)
#define HALF_F16C /* the processor may have instructions for float16 */
#include <immintrin.h>
#endif

/* The last `low` bits of a float32's fraction rounded away: to nearest, ties
 * to even. A carry into the exponent is right; NaN must not come here. */
CR_INLINE uint32_t half_cut(uint32_t bits, int low)
{
    uint32_t odd = bits >> low & 1;

    return (bits + (1u << (low - 1)) - 1 + odd) & ~((1u << low) - 1);
}

CR_INLINE float half_float(uint32_t bits)
{
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

CR_INLINE uint32_t half_bits(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Below 2^-14 the step of float16 is 2^-24, which is that of float32 between
 * 0.5 and 1: a sum there rounds as it must. */
CR_INLINE float half_16(float x)
{
    uint32_t bits = half_bits(x), sign = bits & 0x80000000u, size = bits ^ sign;
    float a = half_float(size);
    uint32_t small = half_bits((a + 0.5f) - 0.5f);
    uint32_t normal = half_cut(size, 13);
    uint32_t y = a < 0x1p-14f ? small : normal;

    y = y > 0x477fe000u ? 0x7f800000u : y; /* 65504 */
    y = size > 0x7f800000u ? size : y;     /* NaN */
    return half_float(y | sign);
}

/* The two bytes of x rounded to float16, and their value. */
CR_INLINE uint16_t half_bits_16(float x)
{
    uint32_t bits = half_bits(half_16(x)), size = bits & 0x7fffffffu;
    uint32_t small = (uint32_t)(half_float(size) * 0x1p24f);
    uint32_t y = size < 0x38800000u ? small : (size - 0x38000000u) >> 13;

    y = size == 0x7f800000u ? 0x7c00u : y;
    y = size > 0x7f800000u ? 0x7e00u : y; /* NaN */
    return (uint16_t)(y | (bits ^ size) >> 16);
}

CR_INLINE float half_of_16(uint16_t x)
{
    uint32_t size = x & 0x7fffu;
    uint32_t small = half_bits((float)(int32_t)size * 0x1p-24f);
    uint32_t y = size < 0x400u ? small : (size << 13) + 0x38000000u;

    y = size >= 0x7c00u ? y + 0x38000000u : y; /* infinity, NaN */
    return half_float(y | (uint32_t)(x & 0x8000u) << 16);
}

CR_INLINE uint16_t half_bits_b16(float x)
{
    uint32_t bits = half_bits(x), size = bits & 0x7fffffffu;

    /* the low half of a NaN may be all that makes it one */
    return (uint16_t)((size > 0x7f800000u ? bits | 0x400000u
                                          : half_cut(bits, 16)) >> 16);
}

CR_INLINE float half_b16(float x)
{
    uint32_t bits = half_bits(x), size = bits & 0x7fffffffu;

    return half_float(size > 0x7f800000u ? bits : half_cut(bits, 16));
}

CR_CLONES static void half_round_16(int64_t n, const cr_real *x, cr_real *y)
{
    int64_t i;

    CR_SIMD
    for (i = 0; i < n; i++)
        y[i] = half_16((float)x[i]);
}

#ifdef HALF_F16C

/* F16C: there and back in two instructions, the same numbers. bfloat16 stays
 * with the code above: AVX512-BF16's conversion takes subnormal numbers for
 * 0. */
CR_TARGET("avx,f16c")
static void half_round_f16c(int64_t n, const float *x, float *y)
{
    int64_t i = 0;

    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(y + i,
                         _mm256_cvtph_ps(_mm256_cvtps_ph(
                             _mm256_loadu_ps(x + i),
                             _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)));
    for (; i < n; i++)
        y[i] = half_16(x[i]);
}

CR_TARGET("avx,f16c")
static void half_narrow_f16c(int64_t n, const float *x, uint16_t *y)
{
    int64_t i = 0;

    for (; i + 8 <= n; i += 8)
        _mm_storeu_si128(
            (__m128i *)(y + i),
            _mm256_cvtps_ph(_mm256_loadu_ps(x + i),
                            _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
    for (; i < n; i++)
        y[i] = half_bits_16(x[i]);
}

CR_TARGET("avx,f16c")
static void half_widen_f16c(int64_t n, const uint16_t *x, float *y)
{
    int64_t i = 0;

    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(
            y + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(x + i))));
    for (; i < n; i++)
        y[i] = half_of_16(x[i]);
}

#endif

CR_CLONES static void half_round_b16(int64_t n, const cr_real *x, cr_real *y)
{
    int64_t i;

    CR_SIMD
    for (i = 0; i < n; i++)
        y[i] = half_b16((float)x[i]);
}

#ifdef HALF_F16C

/* float16 in vectors of 16, rests too. */
#define WIDE_16 CR_TARGET("avx512f,avx512bw,avx512vl")
#define HALF_FIRST(n) ((__mmask16)((n) < 16 ? (1u << (n)) - 1 : 0xffff))
#define HALF_TO_16(x) \
    _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)

WIDE_16 static void half_round_16_avx512(int64_t n, const float *x, float *y)
{
    int64_t i;

    for (i = 0; i < n; i += 16) {
        __mmask16 some = HALF_FIRST(n - i);

        _mm512_mask_storeu_ps(y + i, some,
                              _mm512_cvtph_ps(HALF_TO_16(
                                  _mm512_maskz_loadu_ps(some, x + i))));
    }
}

WIDE_16 static void half_narrow_16_avx512(int64_t n, const float *x,
                                          uint16_t *y)
{
    int64_t i;

    for (i = 0; i + 16 <= n; i += 16)
        _mm256_storeu_si256((__m256i *)(y + i),
                            HALF_TO_16(_mm512_loadu_ps(x + i)));
    if (i < n)
        _mm256_mask_storeu_epi16(
            y + i, HALF_FIRST(n - i),
            HALF_TO_16(_mm512_maskz_loadu_ps(HALF_FIRST(n - i), x + i)));
}

WIDE_16 static void half_widen_16_avx512(int64_t n, const uint16_t *x, float *y)
{
    int64_t i;

    for (i = 0; i + 16 <= n; i += 16)
        _mm512_storeu_ps(y + i, _mm512_cvtph_ps(_mm256_loadu_si256(
                                    (const __m256i *)(x + i))));
    if (i < n)
        _mm512_mask_storeu_ps(y + i, HALF_FIRST(n - i),
                              _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(
                                  HALF_FIRST(n - i), x + i)));
}

/* bfloat16 in vectors of 16, by the same arithmetic. */
#define WIDE_B16 CR_TARGET("avx512f,avx512bw,avx512vl")

WIDE_B16 CR_INLINE __m512i half_cut_avx512(__m512i bits)
{
    __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16),
                                   _mm512_set1_epi32(1));

    return _mm512_add_epi32(
        bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
}

WIDE_B16 CR_INLINE __mmask16 half_nan_avx512(__m512i bits)
{
    __m512 x = _mm512_castsi512_ps(bits);

    return _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
}

WIDE_B16 static int64_t half_round_b16_avx512(int64_t n, const float *x,
                                              float *y)
{
    int64_t i;

    for (i = 0; i + 16 <= n; i += 16) {
        __m512i bits = _mm512_loadu_si512(x + i);
        __m512i cut = _mm512_and_si512(half_cut_avx512(bits),
                                       _mm512_set1_epi32(~0xffff));

        _mm512_storeu_si512(
            y + i, _mm512_mask_mov_epi32(cut, half_nan_avx512(bits), bits));
    }
    return i;
}

WIDE_B16 static int64_t half_narrow_b16_avx512(int64_t n, const float *x,
                                               uint16_t *y)
{
    int64_t i;

    for (i = 0; i + 16 <= n; i += 16) {
        __m512i bits = _mm512_loadu_si512(x + i);
        __m512i cut = _mm512_mask_or_epi32(
            half_cut_avx512(bits), half_nan_avx512(bits), bits,
            _mm512_set1_epi32(0x400000));

        _mm256_storeu_si256((__m256i *)(y + i),
                            _mm512_cvtepi32_epi16(_mm512_srli_epi32(cut, 16)));
    }
    return i;
}

WIDE_B16 static int64_t half_widen_b16_avx512(int64_t n, const uint16_t *x,
                                              float *y)
{
    int64_t i;

    for (i = 0; i + 16 <= n; i += 16)
        _mm512_storeu_si512(
            y + i, _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256(
                                         (const __m256i *)(x + i))),
                                     16));
    return i;
}

/* The numbers that these have done: all but a rest, or none. */
#define HALF_B16_DONE(name, n, x, y) \
    (cr_isa() == CR_ISA_AVX512 ? name##_avx512(n, x, y) : 0)
#else
#define HALF_B16_DONE(name, n, x, y) 0
#endif

void cr_round_to_type(enum cr_type to, int64_t n, const cr_real *x, cr_real *y)
{
    int64_t done;

    assert(to == CR_F16 || to == CR_BF16);
    if (to == CR_BF16) {
        done = HALF_B16_DONE(half_round_b16, n, x, y);
        x += done, y += done, n -= done;
        half_round_b16(n, x, y);
        return;
    }
#ifdef HALF_F16C
    if (cr_isa() == CR_ISA_AVX512) {
        half_round_16_avx512(n, x, y);
        return;
    }
    if (cr_isa() >= CR_ISA_AVX2) {
        half_round_f16c(n, x, y);
        return;
    }
#endif
    half_round_16(n, x, y);
}

CR_CLONES static void half_narrow_16(int64_t n, const cr_real *x, uint16_t *y)
{
    int64_t i;

    CR_SIMD
    for (i = 0; i < n; i++)
        y[i] = half_bits_16((float)x[i]);
}

CR_CLONES static void half_narrow_b16(int64_t n, const cr_real *x, uint16_t *y)
{
    int64_t i;

    CR_SIMD
    for (i = 0; i < n; i++)
        y[i] = half_bits_b16((float)x[i]);
}

CR_CLONES static void half_widen_16(int64_t n, const uint16_t *x, cr_real *y)
{
    int64_t i;

    CR_SIMD
    for (i = 0; i < n; i++)
        y[i] = half_of_16(x[i]);
}

CR_CLONES static void half_widen_b16(int64_t n, const uint16_t *x, cr_real *y)
{
    int64_t i;

    CR_SIMD
    for (i = 0; i < n; i++)
        y[i] = half_float((uint32_t)x[i] << 16);
}

void cr_narrow(enum cr_type to, int64_t n, const cr_real *x, uint16_t *y)
{
    int64_t done;

    assert(to == CR_F16 || to == CR_BF16);
    if (to == CR_BF16) {
        done = HALF_B16_DONE(half_narrow_b16, n, x, y);
        x += done, y += done, n -= done;
        half_narrow_b16(n, x, y);
        return;
    }
#ifdef HALF_F16C
    if (cr_isa() == CR_ISA_AVX512) {
        half_narrow_16_avx512(n, x, y);
        return;
    }
    if (cr_isa() >= CR_ISA_AVX2) {
        half_narrow_f16c(n, x, y);
        return;
    }
#endif
    half_narrow_16(n, x, y);
}

void cr_widen(enum cr_type from, int64_t n, const uint16_t *x, cr_real *y)
{
    int64_t done;

    assert(from == CR_F16 || from == CR_BF16);
    if (from == CR_BF16) {
        done = HALF_B16_DONE(half_widen_b16, n, x, y);
        x += done, y += done, n -= done;
        half_widen_b16(n, x, y);
        return;
    }
#ifdef HALF_F16C
    if (cr_isa() == CR_ISA_AVX512) {
        half_widen_16_avx512(n, x, y);
        return;
    }
    if (cr_isa() >= CR_ISA_AVX2) {
        half_widen_f16c(n, x, y);
        return;
    }
#endif
    half_widen_16(n, x, y);
}

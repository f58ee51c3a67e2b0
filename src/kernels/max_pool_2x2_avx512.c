/* Max pooling with 2 x 2 windows in vectors of AVX-512. */
#include "base/compiler.h"

#if defined(__x86_64__) && !defined(CR_DOUBLE)

#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>

#define KERNEL CR_TARGET("avx512f,avx512vl,avx512bw,avx512dq,avx2,fma")
#define LANES 16

/* The first n of a vector's lanes, n from 0 up; more than all are all. */
static __mmask16 first(int64_t n)
{
    return (__mmask16)(n >= LANES ? 0xffff : n <= 0 ? 0 : (1u << n) - 1);
}

/* The even and the odd ones of 2n elements. */
KERNEL static void load_pairs(const float *x, int64_t n, __m512 *even,
                              __m512 *odd)
{
    const __m512i e = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12,
                                       10, 8, 6, 4, 2, 0);
    const __m512i o = _mm512_set_epi32(31, 29, 27, 25, 23, 21, 19, 17, 15, 13,
                                       11, 9, 7, 5, 3, 1);
    __m512 a = _mm512_maskz_loadu_ps(first(2 * n), x);
    __m512 b = _mm512_maskz_loadu_ps(first(2 * n - LANES), x + LANES);

    *even = _mm512_permutex2var_ps(a, e, b);
    *odd = _mm512_permutex2var_ps(a, o, b);
}

/* Where `than` beats `best`: it is larger or NaN, and best is a number. */
KERNEL static __mmask16 beats(__m512 than, __m512 best)
{
    return (__mmask16)(_mm512_cmp_ps_mask(than, best, _CMP_NLE_UQ) &
                       _mm512_cmp_ps_mask(best, best, _CMP_ORD_Q));
}

KERNEL static void max_avx512(int64_t n, const float *x0, const float *x1,
                              float *y, uint8_t *at)
{
    int64_t i;

    for (i = 0; i < n; i += LANES) {
        __m512 best, b, c, d;
        __m512i k = _mm512_setzero_si512();
        __mmask16 more;

        load_pairs(x0 + 2 * i, n - i, &best, &b);
        load_pairs(x1 + 2 * i, n - i, &c, &d);
        more = beats(b, best);
        best = _mm512_mask_mov_ps(best, more, b);
        k = _mm512_mask_mov_epi32(k, more, _mm512_set1_epi32(1));
        more = beats(c, best);
        best = _mm512_mask_mov_ps(best, more, c);
        k = _mm512_mask_mov_epi32(k, more, _mm512_set1_epi32(2));
        more = beats(d, best);
        best = _mm512_mask_mov_ps(best, more, d);
        k = _mm512_mask_mov_epi32(k, more, _mm512_set1_epi32(3));
        _mm512_mask_storeu_ps(y + i, first(n - i), best);
        _mm512_mask_cvtepi32_storeu_epi8(at + i, first(n - i), k);
    }
}

KERNEL static void give_avx512(__m512 d, const float *mask, bool add,
                               __mmask16 lanes, float *dx)
{
    if (mask)
        d = _mm512_maskz_mov_ps(
            _mm512_cmp_ps_mask(_mm512_maskz_loadu_ps(lanes, mask),
                               _mm512_setzero_ps(), _CMP_NLE_UQ),
            d);
    if (add)
        d = _mm512_add_ps(_mm512_maskz_loadu_ps(lanes, dx), d);
    _mm512_mask_storeu_ps(dx, lanes, d);
}

KERNEL static void back_row(__m512 even, __m512 odd, int64_t n,
                            const float *mask, bool add, float *dx)
{
    const __m512i low = _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18,
                                         2, 17, 1, 16, 0);
    const __m512i high = _mm512_set_epi32(31, 15, 30, 14, 29, 13, 28, 12, 27,
                                          11, 26, 10, 25, 9, 24, 8);

    give_avx512(_mm512_permutex2var_ps(even, low, odd), mask, add, first(2 * n),
                dx);
    if (2 * n > LANES)
        give_avx512(_mm512_permutex2var_ps(even, high, odd),
                    mask ? mask + LANES : NULL, add, first(2 * n - LANES),
                    dx + LANES);
}

KERNEL static void back_avx512(int64_t n, const float *dy, const uint8_t *at,
                               const float *mask0, const float *mask1, bool add,
                               float *dx0, float *dx1)
{
    int64_t i;

    for (i = 0; i < n; i += LANES) {
        __mmask16 lanes = first(n - i);
        __m512 d = _mm512_maskz_loadu_ps(lanes, dy + i), v[4];
        __m512i k = _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(lanes, at + i));
        int j;

        for (j = 0; j < 4; j++)
            v[j] = _mm512_maskz_mov_ps(
                _mm512_cmpeq_epi32_mask(k, _mm512_set1_epi32(j)), d);
        back_row(v[0], v[1], n - i, mask0 ? mask0 + 2 * i : NULL, add,
                 dx0 + 2 * i);
        back_row(v[2], v[3], n - i, mask1 ? mask1 + 2 * i : NULL, add,
                 dx1 + 2 * i);
    }
}

#define KERNEL_MAX max_avx512
#define KERNEL_BACK back_avx512
#define KERNEL_ROW cr_max_pool_2x2_avx512
#define KERNEL_HEAD                                          \
    {                                                        \
        .name = "max_pool_2x2_avx512", .isa = CR_ISA_AVX512, \
        .accepts = accepts                                   \
    }

#include "kernels/max_pool_2x2.inc"

#endif

/* Max pooling with 2 x 2 windows in vectors of AVX2: eight outputs at a time,
 * the last eight overlapping. */
#include "base/compiler.h"

#if defined(__x86_64__) && !defined(CR_DOUBLE)

#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>

#include "num/real.h"

/* ---- fewer than eight outputs ---- */

/* y[i] = maximum of x0[2i], x0[2i + 1], x1[2i], x1[2i + 1]; at[i] is its index
 * among them, the first one of equals. A NaN counts as the maximum. */
static void max_plain(int64_t n, const cr_real *x0, const cr_real *x1,
                      cr_real *y, uint8_t *at)
{
    int64_t i;

    for (i = 0; i < n; i++) {
        const cr_real v[] = { x0[2 * i], x0[2 * i + 1], x1[2 * i],
                              x1[2 * i + 1] };
        int k, best = 0;

        for (k = 1; k < 4; k++)
            if (!(v[k] <= v[best]) && v[best] == v[best])
                best = k;
        y[i] = v[best];
        at[i] = (uint8_t)best;
    }
}

/* The gradient: d = dy at the maximum, else 0, and 0 where mask, which has the
 * shape of dy or is NULL, is not above 0. */
static void back_plain(int64_t n, const cr_real *dy, const uint8_t *at,
                       const cr_real *mask, bool add, cr_real *dx0,
                       cr_real *dx1)
{
    int64_t i;
    int k;

    for (i = 0; i < n; i++)
        for (k = 0; k < 4; k++) {
            cr_real *to = (k < 2 ? dx0 : dx1) + 2 * i + k % 2;
            cr_real d = at[i] == k && !(mask && mask[i] <= 0) ? dy[i] : 0;

            *to = add ? *to + d : d;
        }
}

/* ---- eight at a time ---- */

#define KERNEL CR_TARGET("avx2")

KERNEL static void load_pairs_avx2(const float *x, __m256 *even, __m256 *odd)
{
    __m256 a = _mm256_loadu_ps(x), b = _mm256_loadu_ps(x + 8);

    *even = _mm256_castpd_ps(_mm256_permute4x64_pd(
        _mm256_castps_pd(_mm256_shuffle_ps(a, b, 0x88)), 0xd8));
    *odd = _mm256_castpd_ps(_mm256_permute4x64_pd(
        _mm256_castps_pd(_mm256_shuffle_ps(a, b, 0xdd)), 0xd8));
}

/* Where `than` beats *best it takes its place, and k that of *at. */
KERNEL static void take_avx2(__m256 than, int k, __m256 *best, __m256i *at)
{
    __m256 more = _mm256_and_ps(_mm256_cmp_ps(than, *best, _CMP_NLE_UQ),
                                _mm256_cmp_ps(*best, *best, _CMP_ORD_Q));

    *best = _mm256_blendv_ps(*best, than, more);
    *at = _mm256_blendv_epi8(*at, _mm256_set1_epi32(k),
                             _mm256_castps_si256(more));
}

KERNEL static void max_avx2(int64_t n, const float *x0, const float *x1,
                            float *y, uint8_t *at)
{
    int64_t i;

    if (n < 8) {
        max_plain(n, x0, x1, y, at);
        return;
    }
    for (i = 0; i < n; i += 8) {
        __m256 best, b, c, d;
        __m256i k = _mm256_setzero_si256();
        __m128i words;

        i = i < n - 8 ? i : n - 8;
        load_pairs_avx2(x0 + 2 * i, &best, &b);
        load_pairs_avx2(x1 + 2 * i, &c, &d);
        take_avx2(b, 1, &best, &k);
        take_avx2(c, 2, &best, &k);
        take_avx2(d, 3, &best, &k);
        _mm256_storeu_ps(y + i, best);
        words = _mm_packus_epi32(_mm256_castsi256_si128(k),
                                 _mm256_extracti128_si256(k, 1));
        _mm_storel_epi64((__m128i *)(void *)(at + i),
                         _mm_packus_epi16(words, words));
    }
}

KERNEL static void give_avx2(__m256 d, bool add, float *dx)
{
    if (add)
        d = _mm256_add_ps(_mm256_loadu_ps(dx), d);
    _mm256_storeu_ps(dx, d);
}

KERNEL static void back_row_avx2(__m256 d, __m256i k, int even, bool add,
                                 float *dx)
{
    __m256 a = _mm256_and_ps(
        d, _mm256_castsi256_ps(_mm256_cmpeq_epi32(k, _mm256_set1_epi32(even))));
    __m256 b = _mm256_and_ps(d, _mm256_castsi256_ps(_mm256_cmpeq_epi32(
                                    k, _mm256_set1_epi32(even + 1))));
    __m256 low = _mm256_unpacklo_ps(a, b), high = _mm256_unpackhi_ps(a, b);

    give_avx2(_mm256_permute2f128_ps(low, high, 0x20), add, dx);
    give_avx2(_mm256_permute2f128_ps(low, high, 0x31), add, dx + 8);
}

KERNEL static void back_avx2(int64_t n, const float *dy, const uint8_t *at,
                             const float *mask, bool add, float *dx0,
                             float *dx1)
{
    int64_t i;

    for (i = 0; i < n; i += 8) {
        __m256 d;
        __m256i k;

        if (i + 8 > n && (add || n < 8))
            break; /* nothing may be added twice */
        i = i < n - 8 ? i : n - 8;
        d = _mm256_loadu_ps(dy + i);
        if (mask)
            d = _mm256_and_ps(d, _mm256_cmp_ps(_mm256_loadu_ps(mask + i),
                                               _mm256_setzero_ps(),
                                               _CMP_NLE_UQ));
        k = _mm256_cvtepu8_epi32(
            _mm_loadl_epi64((const __m128i *)(const void *)(at + i)));
        back_row_avx2(d, k, 0, add, dx0 + 2 * i);
        back_row_avx2(d, k, 2, add, dx1 + 2 * i);
    }
    if (i < n)
        back_plain(n - i, dy + i, at + i, mask ? mask + i : NULL, add,
                   dx0 + 2 * i, dx1 + 2 * i);
}

#define KERNEL_LOW
#define KERNEL_MAX max_avx2
#define KERNEL_BACK back_avx2
#define KERNEL_ROW cr_max_pool_2x2_avx2
#define KERNEL_HEAD                                                         \
    {                                                                       \
        .name = "max_pool_2x2_avx2", .isa = CR_ISA_AVX2, .accepts = accepts \
    }

#include "kernels/max_pool_2x2.inc"

#endif

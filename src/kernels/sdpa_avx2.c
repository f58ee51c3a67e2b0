/* Attention in vectors of 8, for processors with AVX2 and FMA. */
#include "kernels/sdpa.h"

#include "base/compiler.h"

#if defined(__x86_64__) && !defined(CR_DOUBLE)

#include "kernels/simd_avx2.h"

#define KERNEL_CODE cr_sdpa_avx2
#define KERNEL_HEAD                             \
    {                                           \
        .name = "sdpa_avx2", .isa = CR_ISA_AVX2 \
    }
#define WIDE 2
#define MAX_ROWS 1, 10, 6
#define TILES                                                                \
    T(1, 1)                                                                  \
    T(2, 1)                                                                  \
    T(3, 1) T(4, 1) T(5, 1) T(6, 1) T(7, 1) T(8, 1) T(9, 1) T(10, 1) T(1, 2) \
        T(2, 2) T(3, 2) T(4, 2) T(5, 2) T(6, 2)
#define V_SUM(x) sdpa_sum(x)
#define V_LARGEST(x) sdpa_largest(x)
#define V_EXP(x) sdpa_exp(x)
/* y 2^n, n a whole number; x where by >= -104 or NaN, else 0 */
#define V_POWER(y, n) sdpa_power(y, n)
#define V_ABOVE(x, by)                                                        \
    _mm256_and_ps(x, _mm256_cmp_ps(by, _mm256_set1_ps(-104), _CMP_NLT_UQ))
/* the first n lanes, -inf after */
#define V_BELOW(x, n)                              \
    _mm256_blendv_ps(_mm256_set1_ps(-INFINITY), x, \
                     _mm256_castsi256_ps(simd_first_mask(n)))
/* -inf where a byte is not 0, else 0 */
#define V_HIDE(p) sdpa_keep(_mm256_set1_ps(-INFINITY), p)
/* x where a byte is not 0, else 0 */
#define V_KEEP(x, p) sdpa_keep(x, p)

KERNEL CR_INLINE vec sdpa_keep(vec x, const unsigned char *p)
{
    __m256i keep =
        _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)p));

    return _mm256_and_ps(
        _mm256_castsi256_ps(_mm256_cmpgt_epi32(keep, _mm256_setzero_si256())),
        x);
}

KERNEL CR_INLINE float sdpa_sum(vec x)
{
    float v[8];

    V_STORE(v, x);
    return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

KERNEL CR_INLINE float sdpa_largest(vec x)
{
    float v[8], most;
    int i;

    V_STORE(v, x);
    most = v[0];
    for (i = 1; i < 8; i++)
        most = v[i] > most ? v[i] : most;
    return most;
}

/* In two steps, or denormal results would not be reached. */
KERNEL CR_INLINE vec sdpa_power(vec y, vec n)
{
    __m256i all = _mm256_cvtps_epi32(n), half = _mm256_srai_epi32(all, 1);
    __m256i bias = _mm256_set1_epi32(127);
    __m256i rest = _mm256_sub_epi32(all, half);

    half = _mm256_slli_epi32(_mm256_add_epi32(half, bias), 23);
    rest = _mm256_slli_epi32(_mm256_add_epi32(rest, bias), 23);
    return _mm256_mul_ps(_mm256_mul_ps(y, _mm256_castsi256_ps(half)),
                         _mm256_castsi256_ps(rest));
}

/* As cr_vec_exp; x <= 0 or NaN, but for sums of NaN. 0 for x < -87, as for
 * hidden keys: a denormal result takes the processor 100 times as long. */
KERNEL CR_INLINE vec sdpa_exp(vec x)
{
    vec v = _mm256_min_ps(_mm256_set1_ps(89),
                          _mm256_max_ps(_mm256_set1_ps(-87), x));
    vec n = _mm256_round_ps(
        _mm256_mul_ps(v, _mm256_set1_ps(1.44269504088896341f)), 8);
    vec r = _mm256_fnmadd_ps(n, _mm256_set1_ps(0.693359375f), v), y;

    r = _mm256_fnmadd_ps(n, _mm256_set1_ps(-2.12194440e-4f), r);
    y = _mm256_set1_ps(1.9875691500e-4f);
    y = _mm256_fmadd_ps(y, r, _mm256_set1_ps(1.3981999507e-3f));
    y = _mm256_fmadd_ps(y, r, _mm256_set1_ps(8.3334519073e-3f));
    y = _mm256_fmadd_ps(y, r, _mm256_set1_ps(4.1665795894e-2f));
    y = _mm256_fmadd_ps(y, r, _mm256_set1_ps(1.6666665459e-1f));
    y = _mm256_fmadd_ps(y, r, _mm256_set1_ps(5.0000001201e-1f));
    y = _mm256_add_ps(_mm256_fmadd_ps(y, _mm256_mul_ps(r, r), r),
                      _mm256_set1_ps(1));
    return _mm256_and_ps(
        sdpa_power(y, n), _mm256_cmp_ps(x, _mm256_set1_ps(-87), _CMP_NLT_UQ));
}

#include "kernels/sdpa.inc"

#endif

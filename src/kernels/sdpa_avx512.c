/* Attention in vectors of 16, for processors with AVX-512. */
#include "base/compiler.h"

CR_O3

#include "kernels/sdpa.h"

#if defined(__x86_64__) && !defined(CR_DOUBLE)

#include "kernels/simd_avx512.h"

#define KERNEL_CODE cr_sdpa_avx512
#define KERNEL_HEAD                                 \
    {                                               \
        .name = "sdpa_avx512", .isa = CR_ISA_AVX512 \
    }
#define WIDE 4
#define MAX_ROWS 1, 12, 12, 8, 6
#define ROWS(v) T(1, v) T(2, v) T(3, v) T(4, v) T(5, v) T(6, v)
#define TILES                                                                  \
    ROWS(1)                                                                    \
    ROWS(2)                                                                    \
    ROWS(3) ROWS(4) T(7, 1) T(8, 1) T(9, 1) T(10, 1) T(11, 1) T(12, 1) T(7, 2) \
        T(8, 2) T(9, 2) T(10, 2) T(11, 2) T(12, 2) T(7, 3) T(8, 3)
#define V_SUM(x) _mm512_reduce_add_ps(x)
#define V_LARGEST(x) _mm512_reduce_max_ps(x)
#define V_EXP(x) sdpa_exp(x)
/* y 2^n, n a whole number; x where by >= -104 or NaN, else 0 */
#define V_POWER(y, n) _mm512_scalef_ps(y, n)
#define V_ABOVE(x, by)                                                        \
    _mm512_maskz_mov_ps(                                                      \
        _mm512_cmp_ps_mask(by, _mm512_set1_ps(-104), _CMP_NLT_UQ), x)
/* the first n lanes, -inf after */
#define V_BELOW(x, n) \
    _mm512_mask_mov_ps(_mm512_set1_ps(-INFINITY), V_FIRST(n), x)
/* -inf where a byte is not 0, else 0 */
#define V_HIDE(p) sdpa_keep(_mm512_set1_ps(-INFINITY), p)

/* x where a byte is not 0, else 0 */
#define V_KEEP(x, p) sdpa_keep(x, p)

KERNEL CR_INLINE vec sdpa_keep(vec x, const unsigned char *p)
{
    __m128i keep = _mm_loadu_si128((const __m128i *)(const void *)p);

    return _mm512_maskz_mov_ps(_mm_test_epi8_mask(keep, keep), x);
}

/* As cr_vec_exp, with the processor's own scaling; 0 for x < -87, as for
 * hidden keys: a denormal result takes the processor 100 times as long. */
KERNEL CR_INLINE vec sdpa_exp(vec x)
{
    vec v = _mm512_max_ps(_mm512_set1_ps(-87), x); /* NaN stays */
    vec n = _mm512_roundscale_ps(
        _mm512_mul_ps(v, _mm512_set1_ps(1.44269504088896341f)), 8);
    vec r = _mm512_fnmadd_ps(n, _mm512_set1_ps(0.693359375f), v), y;

    r = _mm512_fnmadd_ps(n, _mm512_set1_ps(-2.12194440e-4f), r);
    y = _mm512_set1_ps(1.9875691500e-4f);
    y = _mm512_fmadd_ps(y, r, _mm512_set1_ps(1.3981999507e-3f));
    y = _mm512_fmadd_ps(y, r, _mm512_set1_ps(8.3334519073e-3f));
    y = _mm512_fmadd_ps(y, r, _mm512_set1_ps(4.1665795894e-2f));
    y = _mm512_fmadd_ps(y, r, _mm512_set1_ps(1.6666665459e-1f));
    y = _mm512_fmadd_ps(y, r, _mm512_set1_ps(5.0000001201e-1f));
    y = _mm512_add_ps(_mm512_fmadd_ps(y, _mm512_mul_ps(r, r), r),
                      _mm512_set1_ps(1));
    return _mm512_maskz_scalef_ps(
        _mm512_cmp_ps_mask(x, _mm512_set1_ps(-87), _CMP_NLT_UQ), y, n);
}

#include "kernels/sdpa.inc"

#endif

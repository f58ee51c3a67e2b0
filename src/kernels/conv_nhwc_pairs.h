/* How the copy of a direct convolution gets pairs of bfloat16: included after
 * KERNEL is defined for the processor. Private to src/kernels. */
#ifndef CR_KERNELS_CONV_NHWC_PAIRS_H
#define CR_KERNELS_CONV_NHWC_PAIRS_H

#include "kernels/conv_nhwc.h"
#include "kernels/simd_avx512.h"

#define PAIR 2

/* Up to 16 numbers as they are stored. */
KERNEL CR_INLINE __m256i pair_read(const char *x, enum cr_type stored,
                                   __mmask16 which)
{
    return stored == CR_REAL ? (__m256i)_mm512_cvtneps_pbh(V_LOAD_M(x, which))
                             : _mm256_maskz_loadu_epi16(which, x);
}

KERNEL CR_INLINE vec pair_up(__m256i first, __m256i second)
{
    return _mm512_castsi512_ps(
        _mm512_or_si512(_mm512_cvtepu16_epi32(first),
                        _mm512_slli_epi32(_mm512_cvtepu16_epi32(second), 16)));
}

/* Columns of a block of `some` channels, `pixel` bytes apart, in pairs of
 * channels; */
KERNEL CR_INLINE void channels_pair(const char *x, enum cr_type stored,
                                    int64_t pixel, int64_t n, int some,
                                    cr_real *to)
{
    __mmask32 which = some == 32 ? ~(__mmask32)0 : ((__mmask32)1 << some) - 1;

    for (; n > 0; n--, x += pixel, to += LANES)
        if (stored == CR_REAL)
            V_STORE(to,
                    (vec)_mm512_cvtne2ps_pbh(V_LOAD_M(x + 16 * sizeof(cr_real),
                                                      (__mmask16)(which >> 16)),
                                             V_LOAD_M(x, (__mmask16)which)));
        else
            _mm512_storeu_si512(to, _mm512_maskz_loadu_epi16(which, x));
}

/* or in pairs of columns, one with what comes before the first, if that has a
 * place, and one with what comes after the last. */
KERNEL CR_INLINE void columns_pair(const char *x, enum cr_type stored,
                                   int64_t pixel, int64_t n, int some,
                                   bool before, cr_real *to)
{
    __m256i none = _mm256_setzero_si256(), first = none, second;
    __mmask16 which = V_FIRST(some);
    int64_t j;

    if (n <= 0)
        return;
    for (j = before ? -1 : 0; j < n; j++) {
        if (j == 0 && !before)
            first = pair_read(x, stored, which);
        second =
            j + 1 < n ? pair_read(x + (j + 1) * pixel, stored, which) : none;
        V_STORE(to + j * LANES, pair_up(first, second));
        first = second;
    }
}

KERNEL static void direct_columns(const struct cr_conv_nhwc_source *s,
                                  const char *x, int64_t pixel, int64_t n,
                                  int64_t some, bool before, cr_real *to)
{
    if (s->columns && s->stored == CR_REAL)
        columns_pair(x, CR_REAL, pixel, n, (int)some, before, to);
    else if (s->columns)
        columns_pair(x, CR_BF16, pixel, n, (int)some, before, to);
    else if (s->stored == CR_REAL)
        channels_pair(x, CR_REAL, pixel, n, (int)some, to);
    else
        channels_pair(x, CR_BF16, pixel, n, (int)some, to);
}

#endif

/* Max pooling with 2 x 2 windows in vectors of AVX-512. */
#include "base/compiler.h"

#if defined(__x86_64__) && !defined(CR_DOUBLE)

#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "kernels/parallel_for.h"
#include "kernels/pool.h"
#include "kernels/simd_avx512.h"

/* The first n of a vector's lanes, n from 0 up; more than all are all. */
static __mmask16 first(int64_t n)
{
    return (__mmask16)(n >= LANES ? 0xffff : n <= 0 ? 0 : (1u << n) - 1);
}

/* The first n of 16 numbers from number `at` on: float32 or, of a type of low
 * precision, in two bytes. */
KERNEL CR_INLINE __m512 load(enum cr_type low, const void *x, int64_t at,
                             int64_t n)
{
    if (low == CR_REAL)
        return _mm512_maskz_loadu_ps(first(n), (const float *)x + at);
    return simd_widen(low, (const uint16_t *)x + at,
                      n >= LANES ? LANES : n <= 0 ? 0 : (int)n);
}

/* The even and the odd ones of 2n elements from number `at` on. */
KERNEL CR_INLINE void load_pairs(enum cr_type low, const void *x, int64_t at,
                                 int64_t n, __m512 *even, __m512 *odd)
{
    const __m512i e = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12,
                                       10, 8, 6, 4, 2, 0);
    const __m512i o = _mm512_set_epi32(31, 29, 27, 25, 23, 21, 19, 17, 15, 13,
                                       11, 9, 7, 5, 3, 1);
    __m512 a = load(low, x, at, 2 * n);
    __m512 b = load(low, x, at + LANES, 2 * n - LANES);

    *even = _mm512_permutex2var_ps(a, e, b);
    *odd = _mm512_permutex2var_ps(a, o, b);
}

/* Where `than` beats `best`: it is larger or NaN, and best is a number. */
KERNEL static __mmask16 beats(__m512 than, __m512 best)
{
    return (__mmask16)(_mm512_cmp_ps_mask(than, best, _CMP_NLE_UQ) &
                       _mm512_cmp_ps_mask(best, best, _CMP_ORD_Q));
}

KERNEL CR_INLINE void max_of(enum cr_type low, int64_t n, const void *x0,
                             const void *x1, void *y, uint8_t *at)
{
    int64_t i;

    for (i = 0; i < n; i += LANES) {
        __m512 best, b, c, d;
        __m512i k = _mm512_setzero_si512();
        __mmask16 more;

        load_pairs(low, x0, 2 * i, n - i, &best, &b);
        load_pairs(low, x1, 2 * i, n - i, &c, &d);
        more = beats(b, best);
        best = _mm512_mask_mov_ps(best, more, b);
        k = _mm512_mask_mov_epi32(k, more, _mm512_set1_epi32(1));
        more = beats(c, best);
        best = _mm512_mask_mov_ps(best, more, c);
        k = _mm512_mask_mov_epi32(k, more, _mm512_set1_epi32(2));
        more = beats(d, best);
        best = _mm512_mask_mov_ps(best, more, d);
        k = _mm512_mask_mov_epi32(k, more, _mm512_set1_epi32(3));
        if (low == CR_REAL)
            _mm512_mask_storeu_ps((float *)y + i, first(n - i), best);
        else
            simd_narrow(low, (uint16_t *)y + i,
                        n - i < LANES ? (int)(n - i) : LANES, best);
        _mm512_mask_cvtepi32_storeu_epi8(at + i, first(n - i), k);
    }
}

KERNEL static void max_avx512(int64_t n, const float *x0, const float *x1,
                              float *y, uint8_t *at)
{
    max_of(CR_REAL, n, x0, x1, y, at);
}

KERNEL static void give_avx512(__m512 d, bool add, __mmask16 lanes, float *dx)
{
    if (add)
        d = _mm512_add_ps(_mm512_maskz_loadu_ps(lanes, dx), d);
    _mm512_mask_storeu_ps(dx, lanes, d);
}

KERNEL static void back_row(__m512 even, __m512 odd, int64_t n, bool add,
                            float *dx)
{
    const __m512i low = _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18,
                                         2, 17, 1, 16, 0);
    const __m512i high = _mm512_set_epi32(31, 15, 30, 14, 29, 13, 28, 12, 27,
                                          11, 26, 10, 25, 9, 24, 8);

    give_avx512(_mm512_permutex2var_ps(even, low, odd), add, first(2 * n), dx);
    if (2 * n > LANES)
        give_avx512(_mm512_permutex2var_ps(even, high, odd), add,
                    first(2 * n - LANES), dx + LANES);
}

KERNEL static void back_avx512(int64_t n, const float *dy, const uint8_t *at,
                               const float *mask, bool add, float *dx0,
                               float *dx1)
{
    int64_t i;

    for (i = 0; i < n; i += LANES) {
        __mmask16 lanes = first(n - i), above = lanes;
        __m512i k = _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(lanes, at + i));
        __m512 d, v[4];
        int j;

        if (mask)
            above = _mm512_mask_cmp_ps_mask(
                lanes, _mm512_maskz_loadu_ps(lanes, mask + i),
                _mm512_setzero_ps(), _CMP_NLE_UQ);
        d = _mm512_maskz_loadu_ps(above, dy + i);
        for (j = 0; j < 4; j++)
            v[j] = _mm512_maskz_mov_ps(
                _mm512_cmpeq_epi32_mask(k, _mm512_set1_epi32(j)), d);
        back_row(v[0], v[1], n - i, add, dx0 + 2 * i);
        back_row(v[2], v[3], n - i, add, dx1 + 2 * i);
    }
}

/* ---- in two bytes ---- */

struct low_planes {
    const struct cr_pool *p;
    enum cr_type type;
    const uint16_t *x, *mask;
    const void *dy;
    bool dy_low;
    uint16_t *y, *dx;
    uint8_t *at;
    const uint8_t *from;
};

KERNEL static void max_low_range(void *ctx, int64_t from, int64_t to)
{
    const struct low_planes *s = ctx;
    const struct cr_window *h = &s->p->w[1], *w = &s->p->w[2];
    int64_t plane, i, o = from * h->out * w->out;

    for (plane = from; plane < to; plane++)
        for (i = 0; i < h->out; i++, o += w->out) {
            const uint16_t *x = s->x + (plane * h->in + 2 * i) * w->in;

            if (s->type == CR_F16)
                max_of(CR_F16, w->out, x, x + w->in, s->y + o, s->at + o);
            else
                max_of(CR_BF16, w->out, x, x + w->in, s->y + o, s->at + o);
        }
}

/* The first n of 32 lanes. */
static __mmask32 first_32(int64_t n)
{
    return n >= 32 ? 0xffffffff : (1u << n) - 1;
}

/* Whose sign and exponent say that they are above 0, or NaN: those beyond the
 * negative infinity. */
KERNEL static __mmask16 above_0(enum cr_type type, __m256i x)
{
    short low = (short)(type == CR_F16 ? 0xfc00 : 0xff80);

    return _mm256_cmpgt_epi16_mask(x, _mm256_setzero_si256()) |
           _mm256_cmpgt_epu16_mask(x, _mm256_set1_epi16(low));
}

/* n numbers of dy, in two bytes. */
KERNEL CR_INLINE __m256i load_dy(const struct low_planes *s, int64_t at,
                                 int64_t n)
{
    uint16_t low[LANES];

    if (s->dy_low)
        return _mm256_maskz_loadu_epi16(first(n),
                                        (const uint16_t *)s->dy + at);
    simd_narrow(s->type, low, LANES, load(CR_REAL, s->dy, at, n));
    return _mm256_loadu_si256((const __m256i *)low);
}

/* A row of 2n inputs: dy where a window's maximum is number j or j + 1. */
KERNEL static void back_low_row(__m256i dy, __m256i k, short j, int64_t n,
                                uint16_t *dx)
{
    __m256i even = _mm256_maskz_mov_epi16(
        _mm256_cmpeq_epi16_mask(k, _mm256_set1_epi16(j)), dy);
    __m256i odd = _mm256_maskz_mov_epi16(
        _mm256_cmpeq_epi16_mask(k, _mm256_set1_epi16((short)(j + 1))), dy);
    __m512i d = _mm512_or_si512(
        _mm512_cvtepu16_epi32(even),
        _mm512_slli_epi32(_mm512_cvtepu16_epi32(odd), 16));

    _mm512_mask_storeu_epi16(dx, first_32(2 * n), d);
}

/* Inputs that no window covers get 0. */
KERNEL static void back_low_range(void *ctx, int64_t from, int64_t to)
{
    const struct low_planes *s = ctx;
    const struct cr_window *h = &s->p->w[1], *w = &s->p->w[2];
    int64_t in = h->in * w->in, plane, i, c, o = from * h->out * w->out;
    bool covered = h->in == 2 * h->out && w->in == 2 * w->out;

    for (plane = from; plane < to; plane++) {
        uint16_t *dx = s->dx + plane * in;

        if (!covered)
            memset(dx, 0, (size_t)in * sizeof *dx);
        for (i = 0; i < h->out; i++, o += w->out)
            for (c = 0; c < w->out; c += LANES) {
                int64_t n = w->out - c, at = 2 * (i * w->in + c);
                __m256i dy = load_dy(s, o + c, n);
                __m256i k = _mm256_cvtepu8_epi16(
                    _mm_maskz_loadu_epi8(first(n), s->from + o + c));

                if (s->mask)
                    dy = _mm256_maskz_mov_epi16(
                        above_0(s->type, _mm256_maskz_loadu_epi16(
                                             first(n), s->mask + o + c)),
                        dy);
                back_low_row(dy, k, 0, n, dx + at);
                back_low_row(dy, k, 2, n, dx + at + w->in);
            }
    }
}

static void max_low(const struct cr_pool *p, enum cr_type type,
                    const uint16_t *x, uint16_t *y, void *at)
{
    struct low_planes s = { .p = p, .type = type, .x = x, .y = y, .at = at };

    cr_parallel_for_coarse(p->n * p->c, (double)(p->w[1].in * p->w[2].in), &s,
                           max_low_range);
}

static void max_backward_low(const struct cr_pool *p, enum cr_type type,
                             const void *dy, bool dy_low, const void *at,
                             const uint16_t *y, uint16_t *dx)
{
    struct low_planes s = { .p = p,
                            .type = type,
                            .dy = dy,
                            .dy_low = dy_low,
                            .from = at,
                            .mask = y,
                            .dx = dx };

    cr_parallel_for_coarse(p->n * p->c, (double)(p->w[1].in * p->w[2].in), &s,
                           back_low_range);
}

#define KERNEL_LOW .max_low = max_low, .max_backward_low = max_backward_low,
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

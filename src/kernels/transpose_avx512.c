/*
 * Transposing matrices of few rows or few columns of 4 bytes in vectors of
 * AVX-512: n vectors go in and n come out, each of which takes some lanes of
 * each.
 */
#include "base/compiler.h"

#ifdef __x86_64__

#include <immintrin.h>
#include <pthread.h>
#include <string.h>

#include "kernels/transpose.h"

#define LANES 16
#define MOST 8
#define KERNEL CR_TARGET("avx512f,avx512vl,avx512bw,avx512dq")

/* Which lanes of which vector in come to each one out. */
struct places {
    int32_t lane[MOST][LANES]; /* of out[i]: its place in the one in */
    uint16_t from[MOST][MOST]; /* of out[i]: the lanes that in[k] gives */
};

/* n rows of 16 numbers, or 16 rows of n, side by side in n vectors. */
static struct places of_rows[MOST + 1], of_cols[MOST + 1];
static pthread_once_t known = PTHREAD_ONCE_INIT;

static void places_know(void)
{
    int n, i, e;

    for (n = 2; n <= MOST; n++)
        for (i = 0; i < n; i++)
            for (e = 0; e < LANES; e++) {
                int out = i * LANES + e, in = e * n + i;

                of_rows[n].lane[i][e] = out / n;
                of_rows[n].from[i][out % n] |= (uint16_t)(1 << e);
                of_cols[n].lane[i][e] = in % LANES;
                of_cols[n].from[i][in / LANES] |= (uint16_t)(1 << e);
            }
}

static bool accepts(const void *what)
{
    const struct cr_transpose *t = what;

    if (!t)
        return true;
    pthread_once(&known, places_know);
    return t->size == 4 && ((t->rows > 1 && t->rows <= MOST) ||
                            (t->cols > 1 && t->cols <= MOST));
}

static __mmask16 first(int64_t n)
{
    return (__mmask16)(n >= LANES ? 0xffff : n <= 0 ? 0 : (1u << n) - 1);
}

KERNEL CR_INLINE __m512i gather(const struct places *p, int n, int i,
                                const __m512i *in)
{
    __m512i lane = _mm512_loadu_si512(p->lane[i]), out;
    int k;

    out = _mm512_permutexvar_epi32(lane, in[0]);
#pragma GCC unroll 8
    for (k = 1; k < n; k++)
        out = _mm512_mask_permutexvar_epi32(out, p->from[i][k], lane, in[k]);
    return out;
}

/* `some` columns of n rows. */
KERNEL CR_INLINE void rows_of(int n, int64_t some, const int32_t *x,
                              int64_t cols, int32_t *y)
{
    __m512i in[MOST];
    int i;

#pragma GCC unroll 8
    for (i = 0; i < n; i++)
        in[i] = _mm512_maskz_loadu_epi32(first(some), x + i * cols);
#pragma GCC unroll 8
    for (i = 0; i < n; i++)
        _mm512_mask_storeu_epi32(y + i * LANES, first(some * n - i * LANES),
                                 gather(&of_rows[n], n, i, in));
}

/* `some` rows of n columns. */
KERNEL CR_INLINE void cols_of(int n, int64_t some, const int32_t *x, int32_t *y,
                              int64_t rows)
{
    __m512i in[MOST];
    int i;

#pragma GCC unroll 8
    for (i = 0; i < n; i++)
        in[i] = _mm512_maskz_loadu_epi32(first(some * n - i * LANES),
                                         x + i * LANES);
#pragma GCC unroll 8
    for (i = 0; i < n; i++)
        _mm512_mask_storeu_epi32(y + i * rows, first(some),
                                 gather(&of_cols[n], n, i, in));
}

#define EACH_N(of) of(2) of(3) of(4) of(5) of(6) of(7) of(8)
#define ROWS(n)                            \
    case n:                                \
        rows_of(n, some, xs, t->cols, ys); \
        break;
#define COLS(n)                            \
    case n:                                \
        cols_of(n, some, xs, ys, t->rows); \
        break;

KERNEL static void stripe_rows(const struct cr_transpose *t, int64_t from,
                               int64_t to, const int32_t *x, int32_t *y)
{
    const int32_t *xs = x + from;
    int32_t *ys = y + from * t->rows;
    int64_t some = to - from;

    switch (t->rows) {
        EACH_N(ROWS)
    default:
        break;
    }
}

/* All columns are one stripe. */
KERNEL static void stripe_cols(const struct cr_transpose *t, const int32_t *x,
                               int32_t *y)
{
    int64_t low, some;

    for (low = 0; low < t->rows; low += LANES) {
        const int32_t *xs = x + low * t->cols;
        int32_t *ys = y + low;

        some = t->rows - low;
        some = some < LANES ? some : LANES;
        switch (t->cols) {
            EACH_N(COLS)
        default:
            break;
        }
    }
}

static void stripe(const struct cr_transpose *t, int64_t from, int64_t to,
                   const void *x, void *y)
{
    if (t->rows > 1 && t->rows <= MOST)
        stripe_rows(t, from, to, x, y);
    else
        stripe_cols(t, x, y);
}

const struct cr_transpose_kernel cr_transpose_avx512 = {
    { .name = "transpose_avx512", .isa = CR_ISA_AVX512, .accepts = accepts },
    stripe
};

#endif

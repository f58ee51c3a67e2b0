/*
 * Transposing matrices of few rows or few columns in vectors of AVX-512: n
 * vectors go in and n come out, each of which takes some lanes of each. A lane
 * has 32 bits for an element of 1, 2 or 4 bytes.
 */
#include "base/compiler.h"

#ifdef __x86_64__

#include <immintrin.h>
#include <pthread.h>

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

/* Whether the matrix has n rows or columns, which lie without gaps. */
static bool few(int64_t n, int64_t stride)
{
    return n > 1 && n <= MOST && stride == n;
}

static bool accepts(const void *what)
{
    const struct cr_transposed *t = what;

    if (!t)
        return true;
    pthread_once(&known, places_know);
    return t->size <= 4 &&
           (few(t->rows, t->y_stride) || few(t->cols, t->x_stride));
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

KERNEL CR_INLINE __m512i get(size_t size, const char *x, __mmask16 lanes)
{
    if (size == 4)
        return _mm512_maskz_loadu_epi32(lanes, x);
    return size == 2 ? _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(lanes, x))
                     : _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(lanes, x));
}

KERNEL CR_INLINE void put(size_t size, char *y, __mmask16 lanes, __m512i v)
{
    if (size == 4)
        _mm512_mask_storeu_epi32(y, lanes, v);
    else if (size == 2)
        _mm512_mask_cvtepi32_storeu_epi16(y, lanes, v);
    else
        _mm512_mask_cvtepi32_storeu_epi8(y, lanes, v);
}

/* `some` columns of n rows. */
KERNEL CR_INLINE void rows_of(size_t size, int n, int64_t some, const char *x,
                              int64_t stride, char *y)
{
    __m512i in[MOST];
    int i;

#pragma GCC unroll 8
    for (i = 0; i < n; i++)
        in[i] = get(size, x + i * stride * (int64_t)size, first(some));
#pragma GCC unroll 8
    for (i = 0; i < n; i++)
        put(size, y + i * LANES * (int64_t)size, first(some * n - i * LANES),
            gather(&of_rows[n], n, i, in));
}

/* `some` rows of n columns. */
KERNEL CR_INLINE void cols_of(size_t size, int n, int64_t some, const char *x,
                              char *y, int64_t stride)
{
    __m512i in[MOST];
    int i;

#pragma GCC unroll 8
    for (i = 0; i < n; i++)
        in[i] = get(size, x + i * LANES * (int64_t)size,
                    first(some * n - i * LANES));
#pragma GCC unroll 8
    for (i = 0; i < n; i++)
        put(size, y + i * stride * (int64_t)size, first(some),
            gather(&of_cols[n], n, i, in));
}

KERNEL CR_INLINE void rows_all(size_t size, int n,
                               const struct cr_transposed *t, const char *x,
                               char *y)
{
    int64_t k, at = (int64_t)size;

    for (k = 0; k + LANES <= t->cols; k += LANES)
        rows_of(size, n, LANES, x + k * at, t->x_stride, y + k * n * at);
    if (k < t->cols)
        rows_of(size, n, t->cols - k, x + k * at, t->x_stride, y + k * n * at);
}

KERNEL CR_INLINE void cols_all(size_t size, int n,
                               const struct cr_transposed *t, const char *x,
                               char *y)
{
    int64_t i, at = (int64_t)size;

    for (i = 0; i + LANES <= t->rows; i += LANES)
        cols_of(size, n, LANES, x + i * n * at, y + i * at, t->y_stride);
    if (i < t->rows)
        cols_of(size, n, t->rows - i, x + i * n * at, y + i * at, t->y_stride);
}

#define EACH_N(of) of(2) of(3) of(4) of(5) of(6) of(7) of(8)
#define ROWS(n)                     \
    case n:                         \
        rows_all(size, n, t, x, y); \
        break;
#define COLS(n)                     \
    case n:                         \
        cols_all(size, n, t, x, y); \
        break;

KERNEL CR_INLINE void few_of(size_t size, const struct cr_transposed *t,
                             const char *x, char *y)
{
    if (few(t->rows, t->y_stride))
        switch (t->rows) {
            EACH_N(ROWS)
        default:
            break;
        }
    else
        switch (t->cols) {
            EACH_N(COLS)
        default:
            break;
        }
}

KERNEL static void run(const struct cr_transposed *t, const void *x, void *y)
{
    if (t->size == 1)
        few_of(1, t, x, y);
    else if (t->size == 2)
        few_of(2, t, x, y);
    else
        few_of(4, t, x, y);
}

const struct cr_transpose_kernel cr_transpose_avx512 = {
    { .name = "transpose_avx512", .isa = CR_ISA_AVX512, .accepts = accepts },
    run
};

#endif

/*
 * Transposing by squares of 8 x 8 words of 32 bits in vectors of AVX2. A word
 * is an element of 4 bytes, or the elements that as many smaller rows have in
 * a column. Of fewer rows than fill a vector, a half or a quarter of it is
 * stored.
 */
#include "base/compiler.h"

#ifdef __x86_64__

#include <immintrin.h>

#include "kernels/transpose.h"

#define LANES 8
#define KERNEL CR_TARGET("avx2,fma")

static bool accepts(const void *what)
{
    const struct cr_transposed *t = what;

    return !t || (t->size <= 4 && t->rows * (int64_t)t->size >= 16 &&
                  t->cols >= LANES);
}

/* 8 words of the rows from x on. */
KERNEL CR_INLINE __m256i words(size_t size, const char *x, int64_t stride)
{
    __m256i v, w;
    int i;

    if (size == 4)
        return _mm256_loadu_si256((const __m256i *)(const void *)x);
    v = _mm256_setzero_si256();
#pragma GCC unroll 4
    for (i = 0; i < 4; i++) {
        const void *row = x + i * stride;

        if (i >= 4 / (int)size)
            break;
        w = size == 2 ? _mm256_cvtepu16_epi32(_mm_loadu_si128(row))
                      : _mm256_cvtepu8_epi32(_mm_loadl_epi64(row));
        v = _mm256_or_si256(v, _mm256_slli_epi32(w, i * 8 * (int)size));
    }
    return v;
}

KERNEL CR_INLINE void put(int bytes, char *y, __m256i v)
{
    if (bytes == 32)
        _mm256_storeu_si256((__m256i *)(void *)y, v);
    else if (bytes == 16)
        _mm_storeu_si128((__m128i *)(void *)y, _mm256_castsi256_si128(v));
    else
        _mm_storel_epi64((__m128i *)(void *)y, _mm256_castsi256_si128(v));
}

/* As many bytes of 8 columns of y; strides in bytes. */
KERNEL CR_INLINE void square(size_t size, int bytes, const char *x,
                             int64_t x_stride, char *y, int64_t y_stride)
{
    __m256i a[LANES], b[LANES];
    int i;

#pragma GCC unroll 8
    for (i = 0; i < LANES; i++)
        a[i] = i < bytes / 4
                   ? words(size, x + i * (4 / (int)size) * x_stride, x_stride)
                   : _mm256_setzero_si256();
#pragma GCC unroll 4
    for (i = 0; i < LANES; i += 2) {
        b[i] = _mm256_unpacklo_epi32(a[i], a[i + 1]);
        b[i + 1] = _mm256_unpackhi_epi32(a[i], a[i + 1]);
    }
#pragma GCC unroll 2
    for (i = 0; i < LANES; i += 4) {
        a[i] = _mm256_unpacklo_epi64(b[i], b[i + 2]);
        a[i + 1] = _mm256_unpackhi_epi64(b[i], b[i + 2]);
        a[i + 2] = _mm256_unpacklo_epi64(b[i + 1], b[i + 3]);
        a[i + 3] = _mm256_unpackhi_epi64(b[i + 1], b[i + 3]);
    }
#pragma GCC unroll 4
    for (i = 0; i < 4; i++) {
        b[i] = _mm256_permute2x128_si256(a[i], a[i + 4], 0x20);
        b[i + 4] = _mm256_permute2x128_si256(a[i], a[i + 4], 0x31);
    }
#pragma GCC unroll 8
    for (i = 0; i < LANES; i++)
        put(bytes, y + i * y_stride, b[i]);
}

/* Rows from there on that fill so many bytes, as often as they do, in all
 * columns that fill squares. */
KERNEL CR_INLINE int64_t squares(size_t size, int bytes, int64_t row,
                                 const struct cr_transposed *t, const char *x,
                                 char *y)
{
    int64_t x_stride = t->x_stride * (int64_t)size;
    int64_t y_stride = t->y_stride * (int64_t)size;
    int64_t i = row, k, high = bytes / (int64_t)size;

    for (k = 0; k + LANES <= t->cols; k += LANES)
        for (i = row; i + high <= t->rows; i += high)
            square(size, bytes, x + i * x_stride + k * (int64_t)size, x_stride,
                   y + k * y_stride + i * (int64_t)size, y_stride);
    return i;
}

/* The rows that it does, in all columns that fill squares. */
KERNEL CR_INLINE int64_t squares_of(size_t size, const struct cr_transposed *t,
                                    const char *x, char *y)
{
    int64_t row = squares(size, 32, 0, t, x, y);

    row = squares(size, 16, row, t, x, y);
    return squares(size, 8, row, t, x, y);
}

/* Of these rows and columns. */
static void plain_from(const struct cr_transposed *t, int64_t row, int64_t col,
                       int64_t cols, const char *x, char *y)
{
    struct cr_transposed part = *t;

    part.rows = t->rows - row;
    part.cols = cols;
    if (part.rows > 0 && cols > 0)
        cr_transpose_plain(&part,
                           x + (size_t)(row * t->x_stride + col) * t->size,
                           y + (size_t)(col * t->y_stride + row) * t->size);
}

KERNEL static void run(const struct cr_transposed *t, const void *x, void *y)
{
    int64_t row, col = t->cols / LANES * LANES;

    if (t->size == 1)
        row = squares_of(1, t, x, y);
    else if (t->size == 2)
        row = squares_of(2, t, x, y);
    else
        row = squares_of(4, t, x, y);
    plain_from(t, row, 0, col, x, y);
    plain_from(t, 0, col, t->cols - col, x, y);
}

const struct cr_transpose_kernel cr_transpose_avx2 = {
    { .name = "transpose_avx2", .isa = CR_ISA_AVX2, .accepts = accepts }, run
};

#endif

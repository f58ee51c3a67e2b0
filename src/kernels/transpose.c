#include "kernels/transpose.h"

#define LINE 64 /* bytes of the cache */
#define STEP 16 /* rows that are read together */

/* n rows. A constant n is a loop that is unrolled: twice as fast. */
#define ROWS(type, n)                                                    \
    for (k = 0; k < t->cols; k++)                                        \
    _Pragma("GCC unroll 16") for (i = low; i < low + (n); i++)(          \
        (type *)y)[k * t->y_stride + i] = ((const type *)x)[i * t->x_stride + k]
#define CASE(type, n)  \
    case n:            \
        ROWS(type, n); \
        break;
#define CASES(type)                                                       \
    CASE(type, 1)                                                         \
    CASE(type, 2) CASE(type, 3) CASE(type, 4) CASE(type, 5) CASE(type, 6) \
        CASE(type, 7) CASE(type, 8) CASE(type, 9) CASE(type, 10)          \
            CASE(type, 11) CASE(type, 12) CASE(type, 13) CASE(type, 14)   \
                CASE(type, 15) CASE(type, 16)
#define PLAIN(name, type, cases)                                            \
    static void name(const struct cr_transposed *t, const void *x, void *y)  \
    {                                                                       \
        int64_t i, k, low, some;                                            \
                                                                            \
        for (low = 0; low < t->rows; low += some) {                         \
            some = t->rows - low < STEP ? t->rows - low : STEP;             \
            switch (some) {                                                 \
                cases default : ROWS(type, some);                           \
            }                                                               \
        }                                                                   \
    }

PLAIN(plain_1, uint8_t, )
PLAIN(plain_2, uint16_t, CASES(uint16_t))
PLAIN(plain_4, uint32_t, CASES(uint32_t))
PLAIN(plain_8, uint64_t, CASES(uint64_t))

void cr_transpose_plain(const struct cr_transposed *t, const void *x, void *y)
{
    if (t->size == 1)
        plain_1(t, x, y);
    else if (t->size == 2)
        plain_2(t, x, y);
    else if (t->size == 4)
        plain_4(t, x, y);
    else
        plain_8(t, x, y);
}

static const struct cr_transpose_kernel portable = {
    { .name = "transpose_portable" }, cr_transpose_plain
};

static const struct cr_kernel *const kernels[] = {
#ifdef __x86_64__
    &cr_transpose_avx512.head,
    &cr_transpose_avx2.head,
#endif
    &portable.head, NULL
};

const struct cr_kernels cr_kernels_transpose = { kernels };

static const struct cr_transpose_kernel *
kernel_of(const struct cr_transposed *t)
{
    return (const struct cr_transpose_kernel *)(const void *)cr_kernel_choose(
        &cr_kernels_transpose, t);
}

cr_transpose_run *cr_transpose_kernel(const struct cr_transposed *t)
{
    return kernel_of(t)->run;
}

/* A line's elements along the shorter side of the matrix, as often as there is
 * room along the longer one: what is far apart is read and written by whole
 * lines, what is dense in runs that the processor foresees. */
void cr_transpose_tile(const struct cr_transposed *t, int64_t *rows,
                       int64_t *cols)
{
    bool wide = t->rows <= t->cols;
    int64_t line = LINE / (int64_t)t->size, few = wide ? t->rows : t->cols;
    int64_t many;

    few = few < line ? few : line;
    many = CR_TRANSPOSE_TILE / few / LINE * LINE;
    *rows = wide ? few : many;
    *cols = wide ? many : few;
}

#include "kernels/transpose.h"

/* n rows of a stripe's columns. A constant n is a loop that is unrolled: twice
 * as fast. */
#define ROWS(type, n)                                           \
    for (k = from; k < to; k++)                                 \
    _Pragma("GCC unroll 16") for (i = low; i < low + (n); i++)( \
        (type *)y)[k * t->rows + i] = ((const type *)x)[i * t->cols + k]
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
#define STRIPE(name, type, cases)                                             \
    static void name(const struct cr_transpose *t, int64_t from, int64_t to,  \
                     const void *x, void *y)                                  \
    {                                                                         \
        int64_t i, k, low, some;                                              \
                                                                              \
        for (low = 0; low < t->rows; low += some) {                           \
            some = t->rows - low < CR_TRANSPOSE_STRIPE ? t->rows - low        \
                                                       : CR_TRANSPOSE_STRIPE; \
            switch (some) {                                                   \
                cases default : ROWS(type, some);                             \
            }                                                                 \
        }                                                                     \
    }

STRIPE(stripe_1, uint8_t, )
STRIPE(stripe_2, uint16_t, CASES(uint16_t))
STRIPE(stripe_4, uint32_t, CASES(uint32_t))
STRIPE(stripe_8, uint64_t, CASES(uint64_t))

static void stripe(const struct cr_transpose *t, int64_t from, int64_t to,
                   const void *x, void *y)
{
    if (t->size == 1)
        stripe_1(t, from, to, x, y);
    else if (t->size == 2)
        stripe_2(t, from, to, x, y);
    else if (t->size == 4)
        stripe_4(t, from, to, x, y);
    else
        stripe_8(t, from, to, x, y);
}

static const struct cr_transpose_kernel portable = {
    { .name = "transpose_portable" }, stripe
};

static const struct cr_kernel *const rows[] = {
#ifdef __x86_64__
    &cr_transpose_avx512.head,
#endif
    &portable.head, NULL
};

const struct cr_kernels cr_kernels_transpose = { rows };

static const struct cr_transpose_kernel *kernel_of(const struct cr_transpose *t)
{
    return (const struct cr_transpose_kernel *)(const void *)cr_kernel_choose(
        &cr_kernels_transpose, t);
}

cr_transpose_stripe *cr_transpose_kernel(const struct cr_transpose *t)
{
    return kernel_of(t)->stripe;
}

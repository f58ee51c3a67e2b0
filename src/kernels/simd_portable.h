/* Vectors of 16 bytes, which compilers know on every processor, of floats or
 * doubles, as simd_avx512.h. Private to src/kernels. */
#ifndef CR_KERNELS_SIMD_PORTABLE_H
#define CR_KERNELS_SIMD_PORTABLE_H

#include "base/compiler.h"
#include "num/low_precision.h"
#include "num/real.h"

#include <stdint.h>
#include <string.h>

#define KERNEL
#define LANES ((int)(16 / sizeof(cr_real)))
#define V_ZERO() lanes_set(0)
#define V_SET(x) lanes_set(x)
#define V_LOAD(p) lanes_load(p)
#define V_STORE(p, x) lanes_store(p, LANES, x)
#define V_LOAD_N(p, n) lanes_load_n(p, n)
#define V_STORE_N(p, n, x) lanes_store(p, n, x)
#define V_ADD(x, y) ((x) + (y))
#define V_SUB(x, y) ((x) - (y))
#define V_MUL(x, y) ((x) * (y))
#define V_FMA(x, y, z) ((x) * (y) + (z))
#define V_RELU(x) lanes_relu(x)
#define V_TO_6(x) lanes_to_6(x)
#define V_MASK(x, y) lanes_mask(x, y)

typedef cr_real vec CR_VECTOR(16);

CR_INLINE vec lanes_set(cr_real x)
{
    vec zero = { 0 };

    return zero + x;
}

CR_INLINE vec lanes_load(const cr_real *p)
{
    vec x;

    memcpy(&x, p, sizeof x);
    return x;
}

CR_INLINE vec lanes_load_n(const cr_real *p, int n)
{
    vec x = { 0 };
    int i;

    if (n == LANES)
        return lanes_load(p);
    for (i = 0; i < n; i++)
        x[i] = p[i];
    return x;
}

CR_INLINE void lanes_store(cr_real *p, int n, vec x)
{
    memcpy(p, &x, (size_t)n * sizeof *p);
}

CR_INLINE vec lanes_relu(vec x)
{
    int i;

    for (i = 0; i < LANES; i++)
        x[i] = x[i] < 0 ? 0 : x[i];
    return x;
}

CR_INLINE vec lanes_to_6(vec x)
{
    int i;

    for (i = 0; i < LANES; i++)
        x[i] = x[i] > 6 ? 6 : x[i];
    return x;
}

CR_INLINE vec lanes_mask(vec x, vec y)
{
    int i;

    for (i = 0; i < LANES; i++)
        x[i] = y[i] <= 0 ? 0 : x[i];
    return x;
}

/* x rounded to float16 or bfloat16, as cr_round_to_type does it; numbers that
 * take two bytes, n of them, as cr_widen and cr_narrow. */
#ifdef CR_DOUBLE

CR_INLINE vec simd_round(enum cr_type to, vec x)
{
    cr_real y[LANES];

    lanes_store(y, LANES, x);
    cr_round_to_type(to, LANES, y, y);
    return lanes_load(y);
}

CR_INLINE vec simd_widen(enum cr_type from, const uint16_t *x, int n)
{
    cr_real y[LANES] = { 0 };

    cr_widen(from, n, x, y);
    return lanes_load(y);
}

CR_INLINE void simd_narrow(enum cr_type to, uint16_t *y, int n, vec x)
{
    cr_real from[LANES];

    lanes_store(from, LANES, x);
    cr_narrow(to, n, from, y);
}

#else

typedef uint32_t lanes_bits CR_VECTOR(16);
typedef int32_t lanes_int CR_VECTOR(16); /* comparisons give -1 or 0 */
typedef uint16_t lanes_half CR_VECTOR(8);

CR_INLINE lanes_bits lanes_choose(lanes_int which, lanes_bits x, lanes_bits y)
{
    return (x & (lanes_bits)which) | (y & ~(lanes_bits)which);
}

CR_INLINE lanes_bits lanes_word(uint32_t x)
{
    lanes_bits y = { 0 };

    return y + x;
}

/* The last n bits rounded away: to nearest, ties to even. */
CR_INLINE lanes_bits lanes_cut(lanes_bits x, int n)
{
    return (x + ((1u << (n - 1)) - 1) + ((x >> n) & 1)) & ~((1u << n) - 1);
}

CR_INLINE vec simd_round(enum cr_type to, vec x)
{
    lanes_bits bits = (lanes_bits)x, sign = bits & 0x80000000u;
    lanes_bits size = bits ^ sign, y = lanes_cut(size, 16);
    vec small;

    if (to == CR_F16) {
        small = (vec)size + 0.5f; /* below 2^-14 the step is that of 0.5 */
        small -= 0.5f;
        y = lanes_choose(size < 0x38800000u, (lanes_bits)small,
                         lanes_cut(size, 13));
        y = lanes_choose(y > 0x477fe000u, lanes_word(0x7f800000u), y);
    }
    y = lanes_choose(size > 0x7f800000u, size, y); /* NaN */
    return (vec)(y | sign);
}

CR_INLINE vec simd_widen(enum cr_type from, const uint16_t *x, int n)
{
    lanes_half half = { 0 };
    lanes_bits bits, size, y;
    vec small;

    memcpy(&half, x, (size_t)n * sizeof *x);
    bits = __builtin_convertvector(half, lanes_bits);
    if (from == CR_BF16)
        return (vec)(bits << 16);
    size = bits & 0x7fffu;
    small = __builtin_convertvector((lanes_int)size, vec) * 0x1p-24f;
    y = lanes_choose(size < 0x400u, (lanes_bits)small,
                     (size << 13) + 0x38000000u);
    y += lanes_choose(size >= 0x7c00u, lanes_word(0x38000000u), lanes_word(0));
    return (vec)(y | (bits & 0x8000u) << 16);
}

CR_INLINE void simd_narrow(enum cr_type to, uint16_t *y, int n, vec x)
{
    lanes_bits bits = (lanes_bits)simd_round(to, x), size = bits & 0x7fffffffu;
    lanes_int is_small = size < 0x38800000u;
    vec small = (vec)lanes_choose(is_small, size, lanes_word(0)) * 0x1p24f;
    lanes_bits low = bits >> 16;
    lanes_half half;

    if (to == CR_F16) {
        low = lanes_choose(
            is_small,
            (lanes_bits)__builtin_convertvector(small, lanes_int),
            (size - 0x38000000u) >> 13);
        low = lanes_choose(size == 0x7f800000u, lanes_word(0x7c00u), low);
        low |= (bits ^ size) >> 16;
    }
    /* the low half of a NaN may be all that makes it one */
    low = lanes_choose(size > 0x7f800000u,
                       lanes_word(to == CR_F16 ? 0x7e00u : 0x7fc0u), low);
    half = __builtin_convertvector(low, lanes_half);
    memcpy(y, &half, (size_t)n * sizeof *y);
}

#endif

CR_INLINE void simd_transpose(const cr_real *from, int64_t from_row, int rows,
                              int cols, cr_real *to, int64_t ld)
{
    int i, j;

    for (j = 0; j < cols; j++)
        for (i = 0; i < LANES; i++)
            to[j * ld + i] = i < rows ? from[i * from_row + j] : 0;
}

#endif

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
#define V_MUL(x, y) ((x) * (y))
#define V_FMA(x, y, z) ((x) * (y) + (z))
#define V_RELU(x) lanes_relu(x)
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

CR_INLINE vec lanes_mask(vec x, vec y)
{
    int i;

    for (i = 0; i < LANES; i++)
        x[i] = y[i] <= 0 ? 0 : x[i];
    return x;
}

/* x rounded to float16 or bfloat16; numbers that take two bytes, n of them. */
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

CR_INLINE void simd_transpose(const cr_real *from, int64_t from_row, int rows,
                              int cols, cr_real *to, int64_t ld)
{
    int i, j;

    for (j = 0; j < cols; j++)
        for (i = 0; i < LANES; i++)
            to[j * ld + i] = i < rows ? from[i * from_row + j] : 0;
}

#endif

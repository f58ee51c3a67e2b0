#include "math/half.h"

#include <assert.h>
#include <string.h>

#include "base/attr.h"

/* The last `low` bits of a float32's fraction rounded away: to nearest, ties
 * to even. A carry into the exponent is right; NaN must not come here. */
CR_INLINE uint32_t half_cut(uint32_t bits, int low)
{
    uint32_t odd = bits >> low & 1;

    return (bits + (1u << (low - 1)) - 1 + odd) & ~((1u << low) - 1);
}

CR_INLINE float half_float(uint32_t bits)
{
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

CR_INLINE uint32_t half_bits(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Below 2^-14 the step of float16 is 2^-24, which is that of float32 between
 * 0.5 and 1: a sum there rounds as it must. */
CR_INLINE float half_16(float x)
{
    uint32_t bits = half_bits(x), sign = bits & 0x80000000u, size = bits ^ sign;
    float a = half_float(size);
    uint32_t small = half_bits((a + 0.5f) - 0.5f);
    uint32_t normal = half_cut(size, 13);
    uint32_t y = a < 0x1p-14f ? small : normal;

    y = y > 0x477fe000u ? 0x7f800000u : y; /* 65504 */
    y = size > 0x7f800000u ? size : y;     /* NaN */
    return half_float(y | sign);
}

CR_INLINE float half_b16(float x)
{
    uint32_t bits = half_bits(x), size = bits & 0x7fffffffu;

    return half_float(size > 0x7f800000u ? bits : half_cut(bits, 16));
}

CR_CLONES static void half_round_16(int64_t n, const cr_real *x, cr_real *y)
{
    int64_t i;

    CR_SIMD
    for (i = 0; i < n; i++)
        y[i] = half_16((float)x[i]);
}

CR_CLONES static void half_round_b16(int64_t n, const cr_real *x, cr_real *y)
{
    int64_t i;

    CR_SIMD
    for (i = 0; i < n; i++)
        y[i] = half_b16((float)x[i]);
}

void cr_half_round(enum cr_type to, int64_t n, const cr_real *x, cr_real *y)
{
    assert(to == CR_F16 || to == CR_BF16);
    if (to == CR_F16)
        half_round_16(n, x, y);
    else
        half_round_b16(n, x, y);
}

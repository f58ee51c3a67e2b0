/*
 * exp, log, tanh and erf of floats without branches, so that the compiler
 * vectorises loops over them (CR_SIMD); therefore they are defined in a header.
 * The error is below 2 units in the last place (tests/unit/t_vec_math.c). NaN
 * gives NaN.
 */
#ifndef CR_NUM_VEC_MATH_H
#define CR_NUM_VEC_MATH_H

#include "base/compiler.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/*
 * exp(x) = 2^n exp(r), with n the whole number next to x / log 2, which the
 * last bits of t = x / log 2 + 1.5 * 2^23 are, and r = x - n log 2, with log 2
 * in two parts (Cody and Waite), so that the first product is exact.
 *
 * exp(r) - 1 = r + r^2 p(r), |r| <= log 2 / 2: p of degree 5 has the least
 * largest relative error of that (linear programming over 801 Chebyshev
 * points, its terms rounded one by one), 2^-28.7. In pairs of terms (Estrin):
 * one after the other they would be a chain twice as long.
 */
struct cr_vec_reduced {
    uint32_t bits; /* the last are 254 + n; of NaN some number */
    float less_1;  /* exp(r) - 1 */
};

CR_INLINE struct cr_vec_reduced cr_vec_reduce(float x)
{
    const float whole = 12582912.0f + 254;
    float t = x * 1.44269504088896341f + whole, n = t - whole;
    float r = x - n * 0.693359375f - n * -2.12194440e-4f, s = r * r;
    float low = 1.6666665673e-01f * r + 0.5f;
    float mid = 8.3333896473e-03f * r + 4.1666358709e-02f;
    float high = 1.9845884526e-04f * r + 1.3940660283e-03f;
    struct cr_vec_reduced v;

    memcpy(&v.bits, &t, sizeof t);
    v.less_1 = ((high * s + mid) * s + low) * s + r;
    return v;
}

/* 2^n of the last bits 127 + n, -127 <= n <= 128: 0 and infinity at the ends */
CR_INLINE float cr_vec_power(uint32_t bits)
{
    float y;

    bits <<= 23;
    memcpy(&y, &bits, sizeof y);
    return y;
}

CR_INLINE float cr_vec_exp(float x)
{
    float v = x > 89 ? 89 : x < -104 ? -104 : x;
    struct cr_vec_reduced e = cr_vec_reduce(v);
    uint32_t half = e.bits >> 1;

    /* in two steps, or 2^128 and denormal results would not be reached */
    return (e.less_1 + 1) * cr_vec_power(half) * cr_vec_power(e.bits - half);
}

/* The same for -87 <= x <= 88, in fewer steps; 0 for -88, infinity for 89. */
CR_INLINE float cr_vec_exp_near(float x)
{
    struct cr_vec_reduced e = cr_vec_reduce(x);

    return (e.less_1 + 1) * cr_vec_power(e.bits - 127);
}

/* exp(x) - 1 = 2^n (exp(r) - 1) + (2^n - 1), each by 2^(n/2) at a time. */
CR_INLINE float cr_vec_expm1(float x)
{
    float v = x > 89 ? 89 : x < -30 ? -30 : x;
    struct cr_vec_reduced e = cr_vec_reduce(v);
    uint32_t half = e.bits >> 1, rest = e.bits - half;
    float scale = cr_vec_power(half);

    return (e.less_1 * scale + (scale - cr_vec_power(254 - rest))) *
           cr_vec_power(rest);
}

/* Cephes' polynomial (Moshier, logf.c) around 1, of a number between the roots
 * of 1/2 and 2. */
CR_INLINE float cr_vec_log(float x)
{
    float v = x < 1.17549435e-38f ? x * 33554432 : x, m, z, y, e;
    uint32_t bits;
    int32_t power;

    memcpy(&bits, &v, sizeof bits);
    power = (int32_t)(bits - 0x3f3504f3u) >> 23;
    bits -= (uint32_t)power << 23;
    memcpy(&m, &bits, sizeof m);
    e = (float)(x < 1.17549435e-38f ? power - 25 : power);
    z = m - 1;
    y = 7.0376836292e-2f;
    y = y * z + -1.1514610310e-1f;
    y = y * z + 1.1676998740e-1f;
    y = y * z + -1.2420140846e-1f;
    y = y * z + 1.4249322787e-1f;
    y = y * z + -1.6668057665e-1f;
    y = y * z + 2.0000714765e-1f;
    y = y * z + -2.4999993993e-1f;
    y = y * z + 3.3333331174e-1f;
    y = y * z * (z * z) + e * -2.12194440e-4f - 0.5f * (z * z);
    y = z + y + e * 0.693359375f;
    y = x > 3.40282347e38f ? x : y; /* infinity */
    y = x == 0 ? -INFINITY : y;
    return x >= 0 ? y : NAN;
}

/* log of 1 + x, and what the addition has lost. */
CR_INLINE float cr_vec_log1p(float x)
{
    float u = 1 + x, lost = (x - (u - 1)) / u;

    lost = x > 3.40282347e38f ? 0 : lost; /* infinity */
    return cr_vec_log(u) + (x == -1 ? 0 : lost);
}

/* 1 / (1 + exp(-x)), with x clamped to -87 <= x <= 87: at least 1.6e-38, so
 * that what it gates may be infinite. */
CR_INLINE float cr_vec_gate(float x)
{
    float v = x > 87 ? -87 : x < -87 ? 87 : -x;

    return 1 / (1 + cr_vec_exp_near(v));
}

/* The same, 0 where exp(-x) overflows, as a factor of a large x must be. */
CR_INLINE float cr_vec_sigmoid(float x)
{
    float v = x > 87 ? -87 : x < -89 ? 89 : -x;

    return 1 / (1 + cr_vec_exp_near(v));
}

/* Near 0 Cephes' polynomial (tanhf.c), else 1 - 2 / (exp(2 |x|) + 1). */
CR_INLINE float cr_vec_tanh(float x)
{
    float t = x < 0 ? -x : x, s = x * x, p, q;

    p = -5.70498872745e-3f;
    p = p * s + 2.06390887954e-2f;
    p = p * s + -5.37397155531e-2f;
    p = p * s + 1.33314422036e-1f;
    p = p * s + -3.33332819422e-1f;
    p = p * s * x + x;
    t = t > 43 ? 43 : t;
    q = 1 - 2 / (cr_vec_exp_near(2 * t) + 1);
    q = x < 0 ? -q : q;
    return t < 0.625f ? p : q;
}

/* Near 0 a polynomial, else 1 - exp of one in |x| (njuffa, "A faster erff",
 * stackoverflow.com/questions/35148198). */
CR_INLINE float cr_vec_erf(float x)
{
    float t = x < 0 ? -x : x, s, p, q;

    t = t > 4 ? 4 : t;
    s = t * t;
    q = -1.72853470e-5f * t + 3.83197126e-4f;
    q = q * s + (-3.88396438e-3f * t + 2.42546219e-2f);
    q = q * t + -1.06777877e-1f;
    q = q * t + -6.34846687e-1f;
    q = q * t + -1.28717512e-1f;
    q = q * t - t;
    q = 1 - cr_vec_exp(q);
    q = x < 0 ? -q : q;
    p = -5.96761703e-4f;
    p = p * s + 4.99119423e-3f;
    p = p * s + -2.67681349e-2f;
    p = p * s + 1.12819925e-1f;
    p = p * s + -3.76125336e-1f;
    p = p * s + 1.28379166e-1f;
    p = p * x + x;
    return t < 0.927734375f ? p : q;
}

#endif

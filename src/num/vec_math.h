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

/* 2^n for -126 <= n <= 127 */
CR_INLINE float cr_vec_power(int32_t n)
{
    int32_t bits = (n + 127) << 23;
    float y;

    memcpy(&y, &bits, sizeof y);
    return y;
}

/* Cephes' polynomial (Moshier, expf.c) after Cody and Waite's reduction. */
CR_INLINE float cr_vec_exp(float x)
{
    const float whole = 12582912.0f; /* 1.5 * 2^23: adding it rounds */
    float v = x > 89 ? 89 : x < -104 ? -104 : x;
    float n = (v * 1.44269504088896341f + whole) - whole;
    float r = v - n * 0.693359375f - n * -2.12194440e-4f, y;
    int32_t all = (int32_t)(n == n ? n : 0), half = all / 2;

    y = 1.9875691500e-4f;
    y = y * r + 1.3981999507e-3f;
    y = y * r + 8.3334519073e-3f;
    y = y * r + 4.1665795894e-2f;
    y = y * r + 1.6666665459e-1f;
    y = y * r + 5.0000001201e-1f;
    y = y * (r * r) + r + 1;
    /* in two steps, or 2^128 and denormal results would not be reached */
    return y * cr_vec_power(half) * cr_vec_power(all - half);
}

/* The same for -87 <= x <= 87, in fewer steps. */
CR_INLINE float cr_vec_exp_near(float x)
{
    const float whole = 12582912.0f;
    float t = x * 1.44269504088896341f + whole, n = t - whole;
    float r = x - n * 0.693359375f - n * -2.12194440e-4f, y, power;
    uint32_t bits;

    /* t's last bits are n; a NaN's lead to some number that meets one */
    memcpy(&bits, &t, sizeof bits);
    bits = (bits + 127) << 23;
    memcpy(&power, &bits, sizeof power);
    y = 1.9875691500e-4f;
    y = y * r + 1.3981999507e-3f;
    y = y * r + 8.3334519073e-3f;
    y = y * r + 4.1665795894e-2f;
    y = y * r + 1.6666665459e-1f;
    y = y * r + 5.0000001201e-1f;
    y = y * (r * r) + r + 1;
    return y * power;
}

/* exp(x) - 1: with exp's reduction to r, 2^n (exp(r) - 1) + (2^n - 1). */
CR_INLINE float cr_vec_expm1(float x)
{
    const float whole = 12582912.0f;
    float v = x > 89 ? 89 : x < -30 ? -30 : x;
    float n = (v * 1.44269504088896341f + whole) - whole;
    float r = v - n * 0.693359375f - n * -2.12194440e-4f, y, low, high;
    int32_t all = (int32_t)(n == n ? n : 0), half = all / 2;

    y = 1.9875691500e-4f;
    y = y * r + 1.3981999507e-3f;
    y = y * r + 8.3334519073e-3f;
    y = y * r + 4.1665795894e-2f;
    y = y * r + 1.6666665459e-1f;
    y = y * r + 5.0000001201e-1f;
    y = y * (r * r) + r;
    low = cr_vec_power(half);
    high = cr_vec_power(all - half);
    /* 2^128 is no float, and the 1 makes no difference there */
    return all > 30 ? (y + 1) * low * high
                    : y * (low * high) + (low * high - 1);
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
    float v = x > 87 ? 87 : x < -87 ? -87 : x;

    return 1 / (1 + cr_vec_exp_near(-v));
}

/* The same, 0 where exp(-x) overflows, as a factor of a large x must be. */
CR_INLINE float cr_vec_sigmoid(float x)
{
    return x < -88.7f ? 0 : cr_vec_gate(x);
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

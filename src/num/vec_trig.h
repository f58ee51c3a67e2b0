/*
 * The trigonometric and hyperbolic functions of floats and their inverses,
 * without branches as in vec_math.h, so that the compiler vectorises loops over
 * them. They are computed in double precision and rounded once: with
 * polynomials that are off by less than 2^-30 of the result (by Remez's
 * algorithm on the interval that each names), the error is below 0.52 units in
 * the last place (tests/unit/t_vec_trig.c). NaN gives NaN.
 */
#ifndef CR_NUM_VEC_TRIG_H
#define CR_NUM_VEC_TRIG_H

#include "base/compiler.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define CR_VEC_PI_2 1.57079632679489661923

/* Adding it to a double below 2^51 rounds that to a whole number, which the
 * last bits then are. */
#define CR_VEC_WHOLE 6755399441055744.0 /* 1.5 * 2^52 */

CR_INLINE uint64_t cr_vec_bits(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

CR_INLINE double cr_vec_of_bits(uint64_t bits)
{
    double x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

/* 2^(n + more) for the whole number n whose bits end `whole`, as above */
CR_INLINE double cr_vec_double_power(uint64_t whole, int more)
{
    return cr_vec_of_bits((whole << 52) + ((uint64_t)(1023 + more) << 52));
}

/* ---- angles ---- */

/* The largest angle that is reduced here: whole numbers of pi / 2 in it have 21
 * bits, and with the 31 of pi's first part they multiply without rounding. */
#define CR_VEC_ANGLE_MAX 2097152.0f

/* x - n pi in two steps: pi's first 31 bits, and what they lack. */
CR_INLINE double cr_vec_less_pi(double x, double n)
{
    return x - n * 3.141592651605606 - n * 1.984187159361081e-09;
}

/* sin r for |r| <= pi / 2 */
CR_INLINE double cr_vec_sin_of(double r)
{
    double z = r * r, y;

    y = -2.386834908192139e-08;
    y = y * z + 2.752397131151071e-06;
    y = y * z + -0.00019840832830001225;
    y = y * z + 0.008333330720628598;
    y = y * z + -0.16666666608828606;
    y = y * z + 0.999999999978852;
    return y * r;
}

/* sin of |x| <= CR_VEC_ANGLE_MAX: (-1)^n sin(x - n pi) */
CR_INLINE float cr_vec_sin_near(float x)
{
    double t = x * 0.31830988618379067154 + CR_VEC_WHOLE;
    double y = cr_vec_sin_of(cr_vec_less_pi(x, t - CR_VEC_WHOLE));

    return (float)cr_vec_of_bits(cr_vec_bits(y) ^ cr_vec_bits(t) << 63);
}

/* cos of the same: -(-1)^n sin(x - (n + 1/2) pi) */
CR_INLINE float cr_vec_cos_near(float x)
{
    double t = (x * 0.31830988618379067154 - 0.5) + CR_VEC_WHOLE;
    double y = cr_vec_sin_of(cr_vec_less_pi(x, t - CR_VEC_WHOLE + 0.5));

    return (float)cr_vec_of_bits(cr_vec_bits(y) ^ ~cr_vec_bits(t) << 63);
}

/* tan of the same: with r = x - n pi / 2, sin r / cos r or -cos r / sin r */
CR_INLINE float cr_vec_tan_near(float x)
{
    double t = x * 0.63661977236758134308 + CR_VEC_WHOLE;
    double n = t - CR_VEC_WHOLE, r = cr_vec_less_pi(x, 0.5 * n), z = r * r;
    double half = 0.5 * n, s, c;
    int odd = (half + CR_VEC_WHOLE) - CR_VEC_WHOLE != half;

    s = 2.71715273472035e-06;
    s = s * z + -0.0001983917834733006;
    s = s * z + 0.008333328690121355;
    s = s * z + -0.1666666663044616;
    s = s * z + 0.9999999999954514;
    s *= r;
    c = 2.4372677718371633e-05;
    c = c * z + -0.0013886529143588451;
    c = c * z + 0.041666613234112845;
    c = c * z + -0.4999999957158218;
    c = c * z + 0.999999999943958;
    return (float)((odd ? -c : s) / (odd ? s : c));
}

/* The same of any angle, for one number at a time. */
static inline float cr_vec_sin(float x)
{
    return fabsf(x) > CR_VEC_ANGLE_MAX ? (float)sin(x) : cr_vec_sin_near(x);
}

static inline float cr_vec_cos(float x)
{
    return fabsf(x) > CR_VEC_ANGLE_MAX ? (float)cos(x) : cr_vec_cos_near(x);
}

static inline float cr_vec_tan(float x)
{
    return fabsf(x) > CR_VEC_ANGLE_MAX ? (float)tan(x) : cr_vec_tan_near(x);
}

/* ---- their inverses ---- */

/* arctan(a / b) for 0 <= a <= b: above tan(pi / 8) it is pi / 4 more than that
 * of (a - b) / (a + b). */
CR_INLINE double cr_vec_angle(double a, double b)
{
    int turn = a > 0.41421356237309504880 * b;
    double q = (turn ? a - b : a) / (turn ? a + b : b), z = q * q, y;

    y = -0.060347495098533155;
    y = y * z + 0.10573464046053291;
    y = y * z + -0.14240080946451542;
    y = y * z + 0.19998216843302985;
    y = y * z + -0.33333307624204656;
    y = y * z + 0.999999999396714;
    return y * q + (turn ? CR_VEC_PI_2 / 2 : 0);
}

CR_INLINE float cr_vec_atan(float x)
{
    double t = fabs((double)x), y = cr_vec_angle(t < 1 ? t : 1, t < 1 ? 1 : t);

    return (float)copysign(t > 1 ? CR_VEC_PI_2 - y : y, x);
}

/* Sides of 0 have the angle 0, infinite ones that of (1, 1). */
CR_INLINE float cr_vec_atan2(float y, float x)
{
    double a = fabs((double)y), b = fabs((double)x), v;

    a = a > 1e300 ? 1e300 : a;
    b = b > 1e300 ? 1e300 : b;
    v = cr_vec_angle(a < b ? a : b, a < b ? b : a == 0 ? 1 : a);
    v = a > b ? CR_VEC_PI_2 - v : v;
    v = copysign(1, x) < 0 ? 2 * CR_VEC_PI_2 - v : v;
    return (float)copysign(v, y);
}

/* arcsin s for z = s^2, 0 <= s <= 1/2 */
CR_INLINE double cr_vec_asin_of(double s, double z)
{
    double y;

    y = 0.03788592711488109;
    y = y * z + 0.014139256815775122;
    y = y * z + 0.031900860835949944;
    y = y * z + 0.044503081081871794;
    y = y * z + 0.07500604113692041;
    y = y * z + 0.16666656945190048;
    y = y * z + 1.0000000002545488;
    return y * s;
}

/* Above 1/2, arcsin t = pi / 2 - 2 arcsin sqrt((1 - t) / 2). */
CR_INLINE float cr_vec_asin(float x)
{
    double t = fabs((double)x), z = t > 0.5 ? 0.5 * (1 - t) : t * t;
    double y = cr_vec_asin_of(t > 0.5 ? sqrt(z) : t, z);

    return (float)copysign(t > 0.5 ? CR_VEC_PI_2 - 2 * y : y, x);
}

CR_INLINE float cr_vec_acos(float x)
{
    double t = fabs((double)x), z = t > 0.5 ? 0.5 * (1 - t) : t * t;
    double y = cr_vec_asin_of(t > 0.5 ? sqrt(z) : t, z);

    y = t > 0.5 ? 2 * y : CR_VEC_PI_2 - y;
    return (float)(x < 0 ? 2 * CR_VEC_PI_2 - y : y);
}

/* ---- hyperbolic functions ---- */

/* With x = n ln 2 + r: the hyperbolic sine of r, the cosine of r, and those of
 * n ln 2, which are sums of powers of 2. */
struct cr_vec_hyperbolic {
    double s, c, sn, cn;
};

CR_INLINE struct cr_vec_hyperbolic cr_vec_hyperbolic(float x)
{
    double v = x > 200 ? 200 : x < -200 ? -200 : x;
    double t = v * 1.4426950408889634074 + CR_VEC_WHOLE;
    double r = v - (t - CR_VEC_WHOLE) * 0.69314718055994530942, z = r * r;
    uint64_t n = cr_vec_bits(t);
    double up = cr_vec_double_power(n, -1), down = cr_vec_double_power(-n, -1);
    struct cr_vec_hyperbolic h = { .sn = up - down, .cn = up + down };

    h.s = 0.00019907580480002794;
    h.s = h.s * z + 0.008333283520578418;
    h.s = h.s * z + 0.16666666786381268;
    h.s = h.s * z + 0.9999999999955048;
    h.s *= r;
    h.c = 0.001394858929062779;
    h.c = h.c * z + 0.04166621813970322;
    h.c = h.c * z + 0.5000000107801968;
    h.c = h.c * z + 0.9999999999593186;
    return h;
}

CR_INLINE float cr_vec_sinh(float x)
{
    struct cr_vec_hyperbolic h = cr_vec_hyperbolic(x);

    return (float)copysign(h.s * h.cn + h.c * h.sn, x);
}

CR_INLINE float cr_vec_cosh(float x)
{
    struct cr_vec_hyperbolic h = cr_vec_hyperbolic(x);

    return (float)(h.c * h.cn + h.s * h.sn);
}

/* ---- their inverses ---- */

/* artanh s for |s| <= 0.2005 */
CR_INLINE double cr_vec_atanh_of(double s)
{
    double z = s * s, y;

    y = 0.12078797593710996;
    y = y * z + 0.14251020233246167;
    y = y * z + 0.2000050298447793;
    y = y * z + 0.3333333079034848;
    y = y * z + 1.0000000000205365;
    return y * s;
}

/* The whole number that `power`, bits of a double moved down, stands for */
CR_INLINE double cr_vec_exponent(uint64_t power)
{
    return cr_vec_of_bits(power | 0x4330000000000000u) - 4503599627371519.0;
}

/* log(1 + w) for w >= 0: k ln 2 + 2 artanh((1 + w - 2^k) / (1 + w + 2^k)), with
 * the 1 taken from 2^k, so that no digit of a small w is lost. */
CR_INLINE double cr_vec_log1p_of(double w)
{
    uint64_t k = (cr_vec_bits(1 + w) + 0x95f619980c433u) >> 52;
    double two = cr_vec_of_bits(k << 52);
    double s = (w + (1 - two)) / (w + (1 + two));

    return cr_vec_exponent(k) * 0.69314718055994530942 + 2 * cr_vec_atanh_of(s);
}

/* log(t + sqrt(1 + t^2)) */
CR_INLINE float cr_vec_asinh(float x)
{
    double t = fabs((double)x), z = t * t;
    double y = cr_vec_log1p_of(t + z / (1 + sqrt(1 + z)));

    return (float)copysign(t > 3.5e38 ? t : y, x);
}

/* log(x + sqrt(x^2 - 1)) */
CR_INLINE float cr_vec_acosh(float x)
{
    double w = (double)x - 1, y = cr_vec_log1p_of(w + sqrt(w * (w + 2)));

    y = x > 3.40282347e38f ? x : y;
    return (float)(x >= 1 ? y : NAN);
}

/* log((1 + t) / (1 - t)) / 2 as in cr_vec_log1p_of, with a k for which the
 * quotient is within 2^0.587 of 2^k: numbers between powers of 2 are up to
 * 2^0.087 off a straight line. */
CR_INLINE float cr_vec_atanh(float x)
{
    double t = fabs((double)x), two, y;
    uint64_t k = cr_vec_bits(1 + t) - cr_vec_bits(1 - t);

    k = (k + 0x3ff8000000000000u) >> 52;
    two = cr_vec_of_bits(k << 52);
    y = cr_vec_atanh_of(((1 - two) + t * (1 + two)) /
                        ((1 + two) + t * (1 - two)));
    y += cr_vec_exponent(k) * (0.5 * 0.69314718055994530942);
    y = t < 1 ? y : t == 1 ? INFINITY : NAN;
    return (float)copysign(y, x);
}

#endif

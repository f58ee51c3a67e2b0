/*
 * Powers and erfc of floats, in double precision and rounded once as in
 * vec_trig.h: the error is below 0.55 units in the last place
 * (tests/unit/t_vec_trig.c). NaN gives NaN, except in 1^NaN and NaN^0.
 */
#ifndef CR_NUM_VEC_POW_H
#define CR_NUM_VEC_POW_H

#include "num/vec_trig.h"

/* 2^e, for |e| < 1000 */
CR_INLINE double cr_vec_exp2_of(double e)
{
    double t = e + CR_VEC_WHOLE, f = e - (t - CR_VEC_WHOLE), y;

    y = 0.00015345788418019075;
    y = y * f + 0.001339993210146075;
    y = y * f + 0.009618489068543325;
    y = y * f + 0.055503287737718426;
    y = y * f + 0.24022646889073312;
    y = y * f + 0.6931472057402119;
    y = y * f + 1.0000000005548684;
    return y * cr_vec_double_power(cr_vec_bits(t), 0);
}

/* The logarithm of a float t >= 0 to base 2, 1e300 for infinity:
 * k + 2 artanh((m - 1) / (m + 1)) / ln 2, where t = 2^k m and m is between the
 * roots of 1/2 and 2. */
CR_INLINE double cr_vec_log2_of(double t)
{
    uint64_t k = (cr_vec_bits(t) + 0x95f619980c433u) >> 52;
    double two = cr_vec_of_bits(k << 52), s = (t - two) / (t + two);
    double z = s * s, y;

    y = 0.34072842784104623;
    y = y * z + 0.4116728055004104;
    y = y * z + 0.5770835836005791;
    y = y * z + 0.9617966733484952;
    y = y * z + 2.885390081790081;
    y = y * s + cr_vec_exponent(k);
    y = t == 0 ? -1e300 : y;
    y = t > 3.5e38 ? 1e300 : y;
    return t == t ? y : t;
}

/* x^y. A negative x has powers of whole numbers y only, and odd ones keep its
 * sign; floats from 2^24 on are even. What depends on one of the two is put
 * into bits, not into conditions: it leaves the loop where that does not
 * change, and the rest is vectorised still. */
CR_INLINE float cr_vec_pow(float x, float y)
{
    const uint64_t all = ~(uint64_t)0;
    double t = fabs((double)x), e = y * cr_vec_log2_of(t), v;
    double n =
        cr_vec_of_bits(cr_vec_bits(y) & (fabs((double)y) > 1e9 ? 0 : all));
    double whole = n + CR_VEC_WHOLE;
    uint64_t broken = whole - CR_VEC_WHOLE == n ? 0 : all;
    uint64_t odd = cr_vec_bits(whole) << 63 & ~broken;
    uint64_t below = x < 0 && x >= -3.40282347e38f ? cr_vec_bits(NAN) : 0;

    e = cr_vec_of_bits(cr_vec_bits(e) & (t == 1 ? 0 : all) &
                       (y == 0 ? 0 : all));
    e = e > 999 ? 999 : e < -999 ? -999 : e;
    v = cr_vec_exp2_of(e);
    return (float)cr_vec_of_bits((cr_vec_bits(v) ^ (cr_vec_bits(x) & odd)) |
                                 (below & broken));
}

/* exp(-t^2) times a polynomial in u = 1 / (1 + 0.4 t), for t = |x|: it is
 * erfc(t) exp(t^2) / u for 0 <= t <= 10.3, from where erfc is 0 in floats. */
CR_INLINE float cr_vec_erfc(float x)
{
    double t = fabs((double)x), u, y;

    t = t > 12 ? 12 : t;
    u = 1 / (1 + 0.4 * t);
    y = -0.018913858267231354;
    y = y * u + 0.0807151952668029;
    y = y * u + -0.08403381831388325;
    y = y * u + -0.08323023626805286;
    y = y * u + 0.15738122406619837;
    y = y * u + -0.041139287809531716;
    y = y * u + 0.17019020606560792;
    y = y * u + 0.15793889538314443;
    y = y * u + 0.2099565953491664;
    y = y * u + 0.22544983129258142;
    y = y * u + 0.2256852513254095;
    y *= u * cr_vec_exp2_of(t * t * -1.4426950408889634074);
    return (float)(x < 0 ? 2 - y : y);
}

#endif

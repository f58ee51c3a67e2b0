/* The functions of vec_trig.h and vec_pow.h against the library, over floats of
 * all sizes. */
#include "num/vec_pow.h"
#include "ulps.h"

#define LEN(a) ((int)(sizeof(a) / sizeof *(a)))

/* Zeros, ends, whole numbers and halves, of both signs. */
static const float special[] = {
    0,      1,      INFINITY, 1e-45f,     3.4e38f,     2,          3,
    0.5f,   1e9f,   16777218, 16777215,   8388609,     4194304.5f, 1.5f,
    1e-40f, 1e-38f, 4194305,  2147483648, 0.99999994f,
};

static double worst_of(double (*want)(double, double),
                       float (*got)(float, float))
{
    double worst = 0;
    int i, k, signs;

    for (i = 0; i <= LEN(special); i++)
        for (k = 0; k <= LEN(special); k++)
            for (signs = 0; signs < 4; signs++) {
                float a = i < LEN(special) ? special[i] : NAN;
                float b = k < LEN(special) ? special[k] : NAN;
                float y;
                double v;

                a = signs & 1 ? -a : a;
                b = signs & 2 ? -b : b;
                y = got(a, b);
                v = want(a, b);
                worst = fmax(worst, off(v, y));
                if (v == v && !signbit(v) != !signbit(y))
                    worst = INFINITY;
            }
    return worst;
}

/* Pairs of all sizes, and of x near 1 with large y. */
static double worst_of_pairs(double (*want)(double, double),
                             float (*got)(float, float))
{
    double worst = 0;
    uint64_t r = 1;
    int i;

    for (i = 0; i < 400000; i++) {
        uint32_t u, v;
        float a, b;

        r = r * 6364136223846793005u + 1442695040888963407u;
        u = (uint32_t)(r >> 32);
        r = r * 6364136223846793005u + 1442695040888963407u;
        v = (uint32_t)(r >> 32);
        memcpy(&a, &u, sizeof a);
        memcpy(&b, &v, sizeof b);
        worst = fmax(worst, off(want(a, b), got(a, b)));
        a = (float)u / 2147483648.0f;
        b = (float)(int32_t)v / 16777216.0f;
        worst = fmax(worst, off(want(a, b), got(a, b)));
        a = 1 + (float)(int32_t)u / 1.8e13f;
        b = (float)(int32_t)v / 100;
        worst = fmax(worst, off(want(a, b), got(a, b)));
        a = -(float)u / 2147483648.0f;
        b = (float)((int32_t)v >> 24);
        worst = fmax(worst, off(want(a, b), got(a, b)));
    }
    return worst;
}

static float pow_float(float x, float y)
{
    return cr_vec_pow(x, y);
}

static float atan2_float(float y, float x)
{
    return cr_vec_atan2(y, x);
}

#define ODD(name, x) \
    (signbit(cr_vec_##name(-(x))) && !signbit(cr_vec_##name(x)))

int main(void)
{
    double most;

    CHECK(sin, 0, 0.52)
    CHECK(cos, 0, 0.52)
    CHECK(tan, 0, 0.52)
    CHECK(asin, 0, 0.52)
    CHECK(acos, 0, 0.52)
    CHECK(atan, 0, 0.52)
    CHECK(sinh, 0, 0.52)
    CHECK(cosh, 0, 0.52)
    CHECK(asinh, 0, 0.52)
    CHECK(acosh, 0, 0.52)
    CHECK(atanh, 0, 0.52)
    CHECK(erfc, 0, 0.6)
    ok(ODD(sin, 0.0f) && ODD(tan, 0.0f) && ODD(asin, 0.0f) && ODD(atan, 0.0f) &&
           ODD(sinh, 0.0f) && ODD(asinh, 0.0f) && ODD(atanh, 0.0f),
       "odd functions keep the sign of 0");
    ok(isnan(cr_vec_sin(INFINITY)) && isnan(cr_vec_cos(-INFINITY)) &&
           isnan(cr_vec_tan(INFINITY)) && isnan(cr_vec_sin(NAN)) &&
           isnan(cr_vec_cos(NAN)) && isnan(cr_vec_tan(NAN)),
       "an infinite angle and NaN have none of sin, cos and tan");
    ok(cr_vec_sin_near(CR_VEC_ANGLE_MAX) == (float)sin(CR_VEC_ANGLE_MAX) &&
           cr_vec_cos_near(CR_VEC_ANGLE_MAX) == (float)cos(CR_VEC_ANGLE_MAX) &&
           cr_vec_tan_near(CR_VEC_ANGLE_MAX) == (float)tan(CR_VEC_ANGLE_MAX),
       "the largest angle that is reduced here");
    ok(isnan(cr_vec_asin(1.0000001f)) && isnan(cr_vec_acos(-INFINITY)) &&
           isnan(cr_vec_acosh(0.9f)) && isnan(cr_vec_acosh(-3)) &&
           isnan(cr_vec_atanh(-1.1f)) && cr_vec_atanh(-1) == -INFINITY,
       "the ends of what asin, acos, acosh and atanh are defined for");
    most = worst_of(atan2, atan2_float);
    ok(most < 0.52, "atan2 of special numbers is off by %.2f", most);
    most = worst_of_pairs(atan2, atan2_float);
    ok(most < 0.52, "atan2 is off by %.2f", most);
    most = worst_of(pow, pow_float);
    ok(most < 0.55, "pow of special numbers is off by %.2f", most);
    most = worst_of_pairs(pow, pow_float);
    ok(most < 0.55, "pow is off by %.2f", most);
    return done();
}

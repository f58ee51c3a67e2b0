/* exp, expm1, log, log1p, tanh, erf and sigmoid against the library, over
 * floats of all sizes. */
#include "num/vec_math.h"
#include "ulps.h"

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

int main(void)
{
    CHECK(exp, 1.2e-38, 1.1)
    CHECK(tanh, 1e-37, 1.5)
    CHECK(erf, 1e-37, 1.5)
    CHECK(sigmoid, 2e-38, 2.5)
    CHECK(expm1, 1.2e-38, 2)
    CHECK(log, 0, 1.1)
    CHECK(log1p, 1.2e-38, 2)
    ok(cr_vec_exp(88.72f) < INFINITY && cr_vec_exp(88.73f) == INFINITY,
       "exp reaches the largest float and no further");
    ok(cr_vec_exp(-103) > 0 && cr_vec_exp(-INFINITY) == 0,
       "exp goes down to the smallest");
    ok(cr_vec_exp(0) == 1 && cr_vec_exp(-0.0f) == 1, "exp of 0 is 1");
    ok(cr_vec_tanh(INFINITY) == 1 && cr_vec_tanh(-INFINITY) == -1 &&
           cr_vec_erf(INFINITY) == 1 && cr_vec_erf(-INFINITY) == -1,
       "tanh and erf end at 1 and -1");
    ok(cr_vec_sigmoid(INFINITY) == 1 && cr_vec_sigmoid(0) == 0.5f &&
           cr_vec_sigmoid(-INFINITY) == 0 && cr_vec_sigmoid(-89) == 0,
       "sigmoid ends at 1 and 0");
    ok(cr_vec_log(1) == 0 && cr_vec_log(0) == -INFINITY &&
           cr_vec_log(-0.0f) == -INFINITY && cr_vec_log(INFINITY) == INFINITY &&
           isnan(cr_vec_log(-1)) && isnan(cr_vec_log(-INFINITY)),
       "log of 1, 0, infinity and below 0");
    ok(cr_vec_log1p(0) == 0 && cr_vec_log1p(-1) == -INFINITY &&
           cr_vec_log1p(INFINITY) == INFINITY && isnan(cr_vec_log1p(-1.1f)),
       "log1p of 0, -1, infinity and below -1");
    ok(cr_vec_expm1(0) == 0 && cr_vec_expm1(-INFINITY) == -1 &&
           cr_vec_expm1(INFINITY) == INFINITY &&
           cr_vec_expm1(88.72f) < INFINITY,
       "expm1 of 0 and both ends");
    ok(isnan(cr_vec_exp(NAN)) && isnan(cr_vec_tanh(NAN)) &&
           isnan(cr_vec_erf(NAN)) && isnan(cr_vec_sigmoid(NAN)) &&
           isnan(cr_vec_log(NAN)) && isnan(cr_vec_log1p(NAN)) &&
           isnan(cr_vec_expm1(NAN)),
       "NaN stays NaN");
    return done();
}

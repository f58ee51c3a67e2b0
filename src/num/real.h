/* The number type that networks compute in, and its functions. */
#ifndef CR_NUM_REAL_H
#define CR_NUM_REAL_H

#include "num/vec_math.h"
#include "num/vec_pow.h"
#include "num/vec_trig.h"

#include <math.h>

#ifdef CR_DOUBLE
typedef double cr_real;
#define CR_REAL_EPS 2.220446049250313e-16
#define cr_exp exp
#define cr_log log
#define cr_tanh tanh
#define cr_gate(x) (1 / (1 + exp(-(x))))
#define cr_sigmoid cr_gate
#define cr_erf erf
#define cr_sqrt sqrt
#define cr_abs fabs
#define cr_ceil ceil
#define cr_cos cos
#define cr_cos_near cos
#define cr_expm1 expm1
#define cr_floor floor
#define cr_fmod fmod
#define cr_log1p log1p
#define cr_pow pow
#define cr_rint rint
#define cr_sin sin
#define cr_sin_near sin
#define cr_acos acos
#define cr_acosh acosh
#define cr_asin asin
#define cr_asinh asinh
#define cr_atan atan
#define cr_atan2 atan2
#define cr_atanh atanh
#define cr_cosh cosh
#define cr_erfc erfc
#define cr_sinh sinh
#define cr_tan tan
#define cr_tan_near tan
#else
typedef float cr_real;
#define CR_REAL_EPS 1.1920928955078125e-07f
#define cr_exp cr_vec_exp
#define cr_log cr_vec_log
#define cr_tanh cr_vec_tanh
#define cr_gate cr_vec_gate
#define cr_sigmoid cr_vec_sigmoid
#define cr_erf cr_vec_erf
#define cr_sqrt sqrtf
#define cr_abs fabsf
#define cr_ceil ceilf
#define cr_cos cr_vec_cos
#define cr_cos_near cr_vec_cos_near
#define cr_expm1 cr_vec_expm1
#define cr_floor floorf
#define cr_fmod fmodf
#define cr_log1p cr_vec_log1p
#define cr_pow cr_vec_pow
#define cr_rint rintf
#define cr_sin cr_vec_sin
#define cr_sin_near cr_vec_sin_near
#define cr_acos cr_vec_acos
#define cr_acosh cr_vec_acosh
#define cr_asin cr_vec_asin
#define cr_asinh cr_vec_asinh
#define cr_atan cr_vec_atan
#define cr_atan2 cr_vec_atan2
#define cr_atanh cr_vec_atanh
#define cr_cosh cr_vec_cosh
#define cr_erfc cr_vec_erfc
#define cr_sinh cr_vec_sinh
#define cr_tan cr_vec_tan
#define cr_tan_near cr_vec_tan_near
#endif

#endif

/* The number type that networks compute in, and its functions. */
#ifndef CR_MATH_REAL_H
#define CR_MATH_REAL_H

#include <math.h>

#ifdef CR_DOUBLE
typedef double cr_real;
#define CR_REAL_EPS 2.220446049250313e-16
#define cr_exp exp
#define cr_log log
#define cr_tanh tanh
#define cr_erf erf
#define cr_sqrt sqrt
#else
typedef float cr_real;
#define CR_REAL_EPS 1.1920928955078125e-07f
#define cr_exp expf
#define cr_log logf
#define cr_tanh tanhf
#define cr_erf erff
#define cr_sqrt sqrtf
#endif

#endif

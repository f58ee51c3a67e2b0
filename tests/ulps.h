/* How far functions of floats are from those of the library in double
 * precision, in units of the last place. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "tap.h"

/* Distance in units of the last place of what is right. */
static inline double off(double want, float got)
{
    float near = (float)want;

    if (isnan(want) || isinf(near))
        return (isnan(want) && isnan(got)) || near == got ? 0 : INFINITY;
    return fabs((double)got - want) /
           ((double)nextafterf(fabsf(near), INFINITY) - fabs((double)near));
}

/* name(x) against cr_vec_name(x) for floats of all sizes where the result is at
 * least `low`. */
#define CHECK(name, low, limit)                                                \
    {                                                                          \
        double worst = 0;                                                      \
        float at = 0;                                                          \
        uint32_t bits = 0;                                                     \
        for (;;) {                                                             \
            float x;                                                           \
            memcpy(&x, &bits, sizeof x);                                       \
            if (!(fabs(name((double)x)) < (low)) &&                            \
                off(name((double)x), cr_vec_##name(x)) > worst) {              \
                worst = off(name((double)x), cr_vec_##name(x));                \
                at = x;                                                        \
            }                                                                  \
            if (bits > UINT32_MAX - 9973)                                      \
                break;                                                         \
            bits += 9973;                                                      \
        }                                                                      \
        ok(worst < (limit), #name " is off by %.2f at %g", worst, (double)at); \
    }

/*
 * Loops of a function of angles (broadcast.h), from two formulas: `near` for
 * vectors where no angle of a run is above CR_VEC_ANGLE_MAX, else `any`. They
 * give the same number for the same angle.
 */
#ifndef CR_FAMILIES_ANGLES_H
#define CR_FAMILIES_ANGLES_H

#include "families/broadcast.h"

/* Whether one of n angles at x is above CR_VEC_ANGLE_MAX. */
bool cr_angles_far(int64_t n, const cr_real *x, int64_t inc);

#define CR_ANGLES_LOOP(name, near, any)                                       \
    CR_LOOP1_AS(CR_CLONES_WIDE, name##_near, cr_real, cr_real, near)          \
    CR_LOOP1_AS(, name##_any, cr_real, cr_real, any)                          \
    static void name(const void *attr, int64_t n, const void *const *in,      \
                     const int64_t *inc, void *y)                             \
    {                                                                         \
        (cr_angles_far(n, in[0], inc[0]) ? name##_any                         \
                                         : name##_near)(attr, n, in, inc, y); \
    }
#define CR_ANGLES_GRAD(name, near, any)                               \
    CR_GRAD1_AS(CR_CLONES_WIDE, name##_near, near)                    \
    CR_GRAD1_AS(, name##_any, any)                                    \
    static void name(const void *attr, int64_t n, int of,             \
                     const void *const *in, const int64_t *inc,       \
                     const cr_real *y, const cr_real *dy, cr_real *d) \
    {                                                                 \
        (cr_angles_far(n, in[0], inc[0]) ? name##_any : name##_near)( \
            attr, n, of, in, inc, y, dy, d);                          \
    }

#endif

/*
 * Low precision for ops with .low: their loops compute on float32, a stretch
 * at a time, whatever memory the values have. A stretch is read where it lies,
 * or widened into `room`; and computed where it belongs, or in `room`, from
 * where it is rounded, narrowed or added to what is there.
 *
 *   x = cr_low_x(s, 0, at, n, room);
 *   y = cr_low_y_open(s, at, room_y);
 *   ... n numbers y of n numbers x ...
 *   cr_low_y_close(s, at, n, y);
 */
#ifndef CR_FAMILIES_LOW_H
#define CR_FAMILIES_LOW_H

#include "base/compiler.h"
#include "graph/op.h"
#include "num/low_precision.h"

#define CR_LOW_STRETCH 512 /* numbers that fit level 1 with room for three */

/* Whether anything of the step has low precision. */
CR_UNUSED static inline bool cr_low_any(const struct cr_op_ctx *s)
{
    return (s->rounds | s->two_bytes | s->grads_two_bytes) != 0;
}

CR_UNUSED static inline const cr_real *cr_low_read(const struct cr_op_ctx *s,
                                                   bool two_bytes,
                                                   const void *x, int64_t at,
                                                   int64_t n, cr_real *room)
{
    if (!x)
        return NULL;
    if (!two_bytes)
        return (const cr_real *)x + at;
    cr_widen(s->low, n, (const uint16_t *)x + at, room);
    return room;
}

/* x[i], y[0] and dy[0]; NULL: absent. */
CR_UNUSED static inline const cr_real *cr_low_x(const struct cr_op_ctx *s,
                                                int i, int64_t at, int64_t n,
                                                cr_real *room)
{
    return cr_low_read(s, s->two_bytes & CR_X(i), s->x[i], at, n, room);
}

CR_UNUSED static inline const cr_real *
cr_low_y(const struct cr_op_ctx *s, int64_t at, int64_t n, cr_real *room)
{
    return cr_low_read(s, s->two_bytes & CR_Y(0), s->y[0], at, n, room);
}

CR_UNUSED static inline const cr_real *
cr_low_dy(const struct cr_op_ctx *s, int64_t at, int64_t n, cr_real *room)
{
    return cr_low_read(s, s->grads_two_bytes & CR_Y(0), s->dy[0], at, n, room);
}

/* y[0], with the map of its epilogue after rounding */
CR_UNUSED static inline cr_real *cr_low_y_open(const struct cr_op_ctx *s,
                                               int64_t at, cr_real *room)
{
    return s->two_bytes & CR_Y(0) ? room : (cr_real *)s->y[0] + at;
}

CR_UNUSED static inline void cr_low_y_close(const struct cr_op_ctx *s,
                                            int64_t at, int64_t n, cr_real *v)
{
    if (s->rounds & CR_Y(0) && (s->end.map || !(s->two_bytes & CR_Y(0))))
        cr_round_to_type(s->low, n, v, v);
    if (s->end.map)
        s->end.map(s->end.attr, n, v, v);
    if (s->two_bytes & CR_Y(0))
        cr_narrow(s->low, n, v, (uint16_t *)s->y[0] + at);
}

/* dx[i] */
CR_UNUSED static inline bool cr_low_rounds_dx(const struct cr_op_ctx *s, int i)
{
    return s->rounds & ~s->partial & CR_X(i);
}

CR_UNUSED static inline cr_real *cr_low_dx_open(const struct cr_op_ctx *s,
                                                int i, int64_t at,
                                                cr_real *room)
{
    return s->accumulate[i] || (s->grads_two_bytes & CR_X(i))
               ? room
               : (cr_real *)s->dx[i] + at;
}

CR_UNUSED static inline void cr_low_dx_close(const struct cr_op_ctx *s, int i,
                                             int64_t at, int64_t n, cr_real *v)
{
    cr_real *dx = (cr_real *)s->dx[i] + at;
    int64_t k;

    if (s->grads_two_bytes & CR_X(i)) {
        cr_narrow(s->low, n, v, (uint16_t *)s->dx[i] + at);
        return;
    }
    if (cr_low_rounds_dx(s, i))
        cr_round_to_type(s->low, n, v, v);
    if (!s->accumulate[i])
        return;
    CR_SIMD
    for (k = 0; k < n; k++)
        dx[k] += v[k];
}

#endif

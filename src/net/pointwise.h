/*
 * What ops on single elements share: y = f(x), with dx a function of dy and
 * of x or y at the same place. The op brings two loops over a stretch of
 * elements; splitting them over threads, and adding to what is there, is done
 * here.
 */
#ifndef CR_NET_POINTWISE_H
#define CR_NET_POINTWISE_H

#include "net/op.h"

/* x and y, as far as .reads names them, are NULL or n elements. d may be dy
 * itself. */
typedef void cr_map(const void *attr, int64_t n, const cr_real *x, cr_real *y);
typedef void cr_map_back(const void *attr, int64_t n, const cr_real *x,
                         const cr_real *y, const cr_real *dy, cr_real *d);

bool cr_pointwise_plan(struct cr_plan *plan);
/* cost: rough nanoseconds per element, as for cr_each. */
void cr_pointwise(const struct cr_step *step, double cost, cr_map *f);
void cr_pointwise_back(const struct cr_step *step, double cost, cr_map_back *f);

#endif

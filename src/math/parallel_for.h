/*
 * Loops over elements, split over the pool when there is enough to do.
 */
#ifndef CR_MATH_PARALLEL_FOR_H
#define CR_MATH_PARALLEL_FOR_H

#include <stdint.h>

/* Calls fn for disjoint ranges that cover 0..n-1, at multiples of 16; in one
 * call when n * cost (rough nanoseconds per element) is too little to split. */
void cr_parallel_for(int64_t n, double cost, void *ctx,
                     void (*fn)(void *ctx, int64_t from, int64_t to));

/* The same for a few elements of much work each: split anywhere. */
void cr_parallel_for_coarse(int64_t n, double cost, void *ctx,
                            void (*fn)(void *ctx, int64_t from, int64_t to));

#endif

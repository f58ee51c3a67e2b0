/*
 * Parallel loops over elements.
 */
#ifndef CR_KERNELS_PARALLEL_FOR_H
#define CR_KERNELS_PARALLEL_FOR_H

#include <stdint.h>

/* Calls fn in parallel for disjoint ranges that cover 0..n-1 and start at
 * multiples of 16; in one call if n * cost is small. cost: approximate
 * nanoseconds per element. A thread gets several ranges, one after the other,
 * and some of those of a slower one (cr_range_next). */
void cr_parallel_for(int64_t n, double cost, void *ctx,
                     void (*fn)(void *ctx, int64_t from, int64_t to));

/* The same for few elements with much work each: ranges start anywhere. */
void cr_parallel_for_coarse(int64_t n, double cost, void *ctx,
                            void (*fn)(void *ctx, int64_t from, int64_t to));

/* The same with one range for each thread, which start at multiples of block:
 * for work that a call does for its whole range. */
void cr_parallel_for_static(int64_t n, int64_t block, double cost, void *ctx,
                            void (*fn)(void *ctx, int64_t from, int64_t to));

#endif

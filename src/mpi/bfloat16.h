/*
 * Sums of numbers that processes send as bfloat16. Each part is rounded once,
 * by its process; the sum, taken in float32 in the order of the processes, is
 * rounded once more.
 *
 * Includes: base num.
 */
#ifndef CR_MPI_BFLOAT16_H
#define CR_MPI_BFLOAT16_H

#include "num/real.h"

#include <stddef.h>
#include <stdint.h>

/* sum[i] = the rounded sum of element i of all parts; part r begins r times
 * `stride` bytes after the first one. */
void cr_bf16_sum(cr_real *sum, int64_t n, const void *first, size_t stride,
                 int parts);

#endif

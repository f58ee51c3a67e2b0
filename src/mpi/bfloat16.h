/*
 * Sums of numbers that processes send as bfloat16. Each part is rounded once,
 * by its process; the sum, taken in float32 in the order of the processes, is
 * rounded once more.
 *
 * Includes: base num.
 */
#ifndef CR_MPI_BFLOAT16_H
#define CR_MPI_BFLOAT16_H

#include "mpi/mpi_calls.h"
#include "num/real.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* sum[i] = the rounded sum of element i of all parts; part r begins r times
 * `stride` bytes after the first one. */
void cr_bf16_sum(cr_real *sum, int64_t n, const void *first, size_t stride,
                 int parts);

/* Sums by messages in one slot; memory is kept from one to the next. `size`
 * processes, of which this one is `rank`. */
struct cr_bf16_sums *cr_bf16_sums(const struct cr_mpi_calls *calls, int slot,
                                  int rank, int size);
void cr_bf16_sums_free(struct cr_bf16_sums *sums);
/* Starts one, in place. */
void cr_bf16_sums_start(struct cr_bf16_sums *sums, cr_real *data, int64_t n);
/* To be called after what was started in the slot is done, until it returns
 * true: the sum is there. */
bool cr_bf16_sums_advance(struct cr_bf16_sums *sums);

#endif

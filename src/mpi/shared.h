/*
 * Collectives of processes on one machine, through memory that they share:
 * a message costs a copy, and a wait less than a call of MPI does.
 *
 * mpi.c uses it where all processes are on one machine. Sums are taken in the
 * order of the processes, so they depend on their number alone, as in mpi.c:
 * the same functions, with the same rules.
 *
 * Includes: base num.
 */
#ifndef CR_MPI_SHARED_H
#define CR_MPI_SHARED_H

#include "mpi/mpi_calls.h"

#include <stdbool.h>

#define CR_SHARED_MAX 1024 /* processes */

/* Called where a process has waited for `limit` seconds; does not return. */
typedef void cr_shared_late(int rank);

struct cr_shared_opts {
    int rank, size;
    bool spin;    /* the processes have a processor each */
    double limit; /* seconds; 0: none */
    cr_shared_late *late;
};

/* Makes the memory, in process 0; opens it, in another one. `from` says where
 * it is: set by the first call, an argument of the others. False: not
 * possible. */
struct cr_shared_place {
    int64_t process, file;
    uint64_t device, inode; /* in case /proc is that of other processes */
};
bool cr_shared_open(const struct cr_shared_opts *opts,
                    struct cr_shared_place *from);
void cr_shared_close(void);
/* The same for more: `once` bytes for all, and a part of `each` bytes of each
 * process. */
bool cr_shared_parts_open(size_t once, size_t each,
                          struct cr_shared_place *from);
void cr_shared_parts_close(void);
/* The memory for all, and the part of this process: zeroed. */
void *cr_shared_once(void);
void *cr_shared_part(void);
/* Where process `rank` has what this one has at `own`, in its part. */
void *cr_shared_part_of(int rank, const void *own);
/* Waits until all processes are here. */
void cr_shared_meet(void);

void cr_shared_reduce(void *data, int64_t n, enum cr_mpi_type type,
                      enum cr_mpi_op op);
/* Starts a sum; false: there is no memory left for it, in any process. One that
 * has been started is completed by cr_shared_sum_wait, in any order. */
bool cr_shared_sum_start(int slot, const void *data, int64_t n,
                         enum cr_mpi_type type);
void cr_shared_sum_wait(int slot, void *data);
void cr_shared_broadcast(void *data, size_t bytes, int from);
/* Process r has the bytes from[r] <= i < from[r + 1] of all. */
void cr_shared_gather(void *all, const size_t *from);

#endif

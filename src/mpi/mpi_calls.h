/*
 * What cellrun takes from MPI: the table of functions that the object file
 * (object/mpi_object.c) hands over. Both sides include it, and nothing else of
 * the other.
 */
#ifndef CR_MPI_MPI_CALLS_H
#define CR_MPI_MPI_CALLS_H

#include <stddef.h>
#include <stdint.h>

#define CR_MPI_CALLS_VERSION 4
#define CR_MPI_SLOTS 65 /* of what is started */

enum cr_mpi_type {
    CR_MPI_FLOAT,
    CR_MPI_DOUBLE,
    CR_MPI_INT64,
    CR_MPI_BF16 /* cr_real: each part is rounded to bfloat16, which is sent, and
                   so is the sum */
};

enum cr_mpi_op {
    CR_MPI_SUM,
    CR_MPI_MAX
};

/* Sizes are below 2^31; counts and places are in bytes where nothing else is
 * said. */
struct cr_mpi_calls {
    int version;
    /* NULL, or what is wrong. A process that waits for longer than `limit`
     * seconds ends all, with the name of the one that it waits for; 0: it
     * waits for ever. no_memory reports that memory is exhausted, and ends the
     * process. local: the number of those on this machine; cpus: of this
     * process. */
    const char *(*start)(double limit, void (*no_memory)(size_t bytes),
                         int *rank, int *size, int *local, double *cpus);
    void (*end)(void);
    void (*abort)(int status);
    void (*reduce)(void *data, int n, enum cr_mpi_type type,
                   enum cr_mpi_op op);
    void (*reduce_start)(int slot, void *data, int n, enum cr_mpi_type type);
    /* To each process r, n[r] bytes at at[r] of `data`, and from it, n_to[r] at
     * at_to[r] of `to`; then the same as `gather`. Both are apart from what
     * other slots send: processes need not start them in one order, after the
     * first time. All that is pointed to is used to the end. */
    void (*exchange_start)(int slot, const void *data, const int *n,
                           const int *at, void *to, const int *n_to,
                           const int *at_to);
    void (*gather_start)(int slot, void *all, const int *n, const int *at);
    int (*done)(int slot); /* lets it proceed */
    void (*wait)(int slot);
    void (*broadcast)(void *data, int n, int from);
    void (*gather)(void *all, const int *n, const int *at);
};

/* The one symbol of the object file. */
typedef const struct cr_mpi_calls *cr_mpi_calls_fn(void);

#endif

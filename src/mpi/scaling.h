/*
 * How the time of a training step depends on the number of processes: what
 * connects them, what a step sends, and a model of both (cellrun-mpi(7),
 * SCALING).
 *
 * A message of m bytes takes latency + m * per_byte seconds (Hockney 1994). A
 * sum over n processes goes up a tree and down again, 2 log2(n) messages one
 * after another, or around a ring (object/mpi_object.c), 2 (n - 1) messages of
 * a part each, whichever takes less time.
 *
 * Called by the command bench.
 *
 * Includes: base.
 */
#ifndef CR_MPI_SCALING_H
#define CR_MPI_SCALING_H

#include <stdbool.h>
#include <stdint.h>

/* What this process has sent so far. */
struct cr_mpi_traffic {
    int64_t sums, sum_bytes;   /* cr_mpi_sum_start: while it computes */
    int64_t waits, wait_bytes; /* other collective calls: it waits */
};

struct cr_mpi_link {
    double latency;  /* seconds of a short message between two processes */
    double per_byte; /* seconds that one more byte takes */
};

/* A step of training with a batch whose rows are shared out. */
struct cr_mpi_step {
    double fixed, per_row; /* seconds that a process computes: for any number
                              of rows, and for each of them */
    struct cr_mpi_traffic traffic; /* in one step */
    bool in_turn;  /* a sum is complete before the next one begins */
    double hidden; /* part, 0 to 1, that passes while the process computes, of
                      what can: cr_mpi_hidden_most */
    double skew;   /* seconds that processes wait for the slowest one */
};

/* Collective: measures a sum of one number, and one of about as many bytes as a
 * step sends; the median of some. A longer sum is faster per byte: of its
 * pieces, more are under way. So what counts is the length that the network
 * has, and whether its gradients are added up in bfloat16. */
struct cr_mpi_link cr_mpi_measure(int64_t bytes, bool bf16);
/* "shared memory" or "messages" */
const char *cr_mpi_transport(void);
struct cr_mpi_traffic cr_mpi_traffic(void);

/* Seconds of all sums of a step, which are under way at once if not in turn,
 * and of the calls that it waits for, one after another, if nothing else is
 * done. */
double cr_mpi_sums_seconds(const struct cr_mpi_link *link,
                           const struct cr_mpi_step *step, int n);
double cr_mpi_waits_seconds(const struct cr_mpi_link *link,
                            const struct cr_mpi_step *step, int n);
/* Seconds of the sums that can pass while a process computes: those of the
 * backward pass, which is taken for two thirds of the time. */
double cr_mpi_hidden_most(double sums, double compute);
/* Seconds of a step over n processes that compute `rows` rows each. */
double cr_mpi_step_seconds(const struct cr_mpi_link *link,
                           const struct cr_mpi_step *step, int n, double rows);

#endif

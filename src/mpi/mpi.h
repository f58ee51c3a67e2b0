/*
 * The processes of a run under mpirun: their number, and what they send to one
 * another.
 *
 * Without mpirun there is one process, number 0 of 1, nothing of MPI is
 * loaded, and every function below is valid and does nothing. Under mpirun
 * cr_mpi_start opens cellrun-mpi-openmpi.so or cellrun-mpi-mpich.so, whichever
 * belongs to the mpirun that started the process: one source file
 * (object/mpi_object.c), compiled once for each MPI found at build time, so
 * that one binary serves both.
 *
 * All functions but the first ones are collective: every process calls them in
 * the same order with the same sizes. Only the main thread calls them. Sums
 * are in place, and every process gets the same bytes.
 *
 * Called by main, by the rooms that share out work, from data/ and plan/ to
 * predict/, and by the commands that run under mpirun. Knows nothing of
 * networks and of what is sent. Like base/thread_pool.h it represents the
 * machine: its state is global.
 *
 * Includes: base num.
 */
#ifndef CR_MPI_MPI_H
#define CR_MPI_MPI_H

#include "base/compiler.h"
#include "base/diag.h"
#include "mpi/mpi_calls.h"
#include "num/real.h"

#define CR_MPI_STARTED (CR_MPI_SLOTS - 1) /* sums that may be under way */

/* ---- Not collective */

/* The number of this process as mpirun gives it to its environment, before
 * cr_mpi_start. 0 without mpirun. */
int cr_mpi_rank_given(void);
/* Number of this process, and of all; 0 and 1 without mpirun. */
int cr_mpi_rank(void);
int cr_mpi_size(void);
/* Of `cpus` processors, the number that is left to this process if it shares
 * them with others on this machine. */
int cr_mpi_cpus(int cpus);
/* "rank 2 on host7", in the arena. */
const char *cr_mpi_name(struct cr_arena *arena);
/* Rows first <= row < first + n of `all` that belong to a process: contiguous
 * ranges that differ by one row at most. */
void cr_mpi_rows(int64_t all, int rank, int64_t *first, int64_t *n);
/* Whether the rows of a batch are shared out: all processes have at least two
 * of them, or all have one. Plans of one row may be others, because a tensor of
 * one row is also a bias. */
bool cr_mpi_shares(int64_t rows);
/* Elements from <= i < to of n that a process updates: ranges of 16 elements
 * each, but for the last one. */
void cr_mpi_range(int64_t n, int rank, int64_t *from, int64_t *to);
/* Whether processes see each other's memory, that of cr_mpi_parts. */
bool cr_mpi_sees(void);
/* The first bytes of that memory, which are there once for all processes. */
void *cr_mpi_once(void);
/* Elements from <= i < from + n of the sum of all parts of `all` elements that
 * are there, of which this process has `own`: in `room`, or where they lie.
 * Between cr_mpi_parts_sum and the next change of a part. */
const cr_real *cr_mpi_parts_read(const cr_real *own, int64_t all, int64_t from,
                                 int64_t n, cr_real *room);
/* For a process that failed alone, while others continue: prints its messages
 * and ends all processes. Does nothing without mpirun. */
void cr_mpi_fail(struct cr_diag *diag, struct cr_diag_format how);

/* ---- Start and end */

/* The processes that this one starts are no processes of the run. */
void cr_mpi_alone(void);

/* Joins the other processes, if mpirun has started this one. False after
 * reporting. */
bool cr_mpi_start(struct cr_diag *diag);
/* Waits for the other processes, and leaves them. Returns the largest of their
 * exit statuses. */
int cr_mpi_end(int status);

/* ---- Collective */

/* Whether all processes say true. */
bool cr_mpi_all(bool ok);
/* The same, where false means that an error was reported to diag: if not, all
 * processes have the error of the first one that failed. */
bool cr_mpi_agree(struct cr_diag *diag, bool ok);

void cr_mpi_sum(void *data, int64_t n, enum cr_mpi_type type);
void cr_mpi_max(int64_t *data, int64_t n);
/* The same as cr_mpi_sum, while other work is done, in one of CR_MPI_STARTED
 * slots. cr_mpi_progress, called now and then,
 * makes sure that those under way proceed. */
void cr_mpi_sum_start(int slot, void *data, int64_t n, enum cr_mpi_type type);
void cr_mpi_progress(void);
void cr_mpi_sum_wait(int slot);
/* Memory that all processes see, one time per run: `once` bytes for all, which
 * process 0 writes first, and `each` bytes of each process, of which this is
 * its part, zeroed. NULL: not possible, in any of them. */
void *cr_mpi_parts(size_t once, size_t each);
/* Waits until all are here, where they see each other's memory. */
void cr_mpi_meet(void);
/* Each process has completed its part of k sums, of n[i] elements at own[i],
 * which are read as sums from now on. */
void cr_mpi_parts_sum(int k, void *const *own, const int64_t *n);
/* From process `from` to all. */
void cr_mpi_broadcast(void *data, size_t bytes, int from);
/* The text of process `from`, in the arena; NULL is one, too. */
const char *cr_mpi_broadcast_text(struct cr_arena *arena, const char *text,
                                  int from);
/* Collects rows of `bytes` bytes each, of which this process has those of
 * cr_mpi_rows, at their place in `all`; then every process has all of them. */
void cr_mpi_gather_rows(void *all, int64_t rows, size_t bytes);
/* The same for bytes from[r] <= i < from[r + 1] of process r. */
void cr_mpi_gather_parts(void *all, const size_t *from);

#endif

/*
 * The thread pool.
 *
 * cr_parallel_run runs a function once per task, task 0 in the caller, and
 * returns when all tasks are done. After its own task the caller also runs
 * tasks that no thread has started, so a task is not bound to a thread and must
 * not wait for a later one. Threads spin briefly between calls, because a
 * training step makes many, and then sleep in the kernel. Nested calls run
 * their tasks one after the other in the caller.
 *
 * This is the only global state of the program: it represents the machine.
 */
#ifndef CR_BASE_THREAD_POOL_H
#define CR_BASE_THREAD_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CR_THREADS_MAX 256

/* Starts the pool with `threads` threads, the caller included, or with
 * CR_THREADS_MAX if that is less; call again to change the number. */
void cr_thread_pool_start(int threads);
void cr_thread_pool_stop(void);
int cr_thread_count(void); /* 1 before the start */

/* fn(ctx, task, n_tasks) for task 0 .. n_tasks - 1; n_tasks <=
 * cr_thread_count(). */
void cr_parallel_run(void (*fn)(void *ctx, int task, int n_tasks), void *ctx,
                     int n_tasks);

/* Guided scheduling, as OpenMP calls it: cores are not equally fast, least of
 * all on a machine that others use. A task opens the range [from, to) that is
 * its own. Then cr_range_next gives it piece after piece, about half of what is
 * left and at least min_piece long, and when nothing of its own is left, pieces
 * of a few other tasks that have opened this loop's range. False at the end.
 *
 * A job may have several such loops, which all its tasks number alike. A task
 * opens each of them once, with the n_tasks that it got, and calls
 * cr_range_next until that is false before it opens the next one or returns.
 * What a piece gives must not depend on who computes it nor on where pieces
 * begin: at from plus a multiple of min_piece. */
struct cr_range {
    int task, n_tasks;
    unsigned loop;
    int64_t min_piece;
    bool shared;      /* else one piece, the whole range: */
    int64_t from, to; /* what is left of it */
};
void cr_range_open(struct cr_range *range, int task, int n_tasks, unsigned loop,
                   int64_t from, int64_t to, int64_t min_piece);
bool cr_range_next(struct cr_range *range, int64_t *from, int64_t *to);

/* Opens the range of a job with one loop, over 0 .. n - 1, split equally:
 *     for (i = to = 0; i < to || cr_range_next(&range, &i, &to); i++)
 */
void cr_range_split(struct cr_range *range, int task, int n_tasks, int64_t n,
                    int64_t min_piece);

/* Scratch memory of the calling thread: at least `bytes` bytes, aligned to 64,
 * with undefined content. The next call returns the same memory, which grows if
 * it is too small; code that runs often reserves the maximum. Freed when the
 * thread ends or, in the thread that stops the pool, with the pool. */
void *cr_thread_scratch(size_t bytes);
/* Allocates scratch memory of the caller and each thread of the pool; not
 * while tasks run. */
void cr_thread_scratch_reserve(size_t bytes);
/* The largest scratch memory of the caller and the threads of the pool; not
 * while tasks run. */
size_t cr_thread_scratch_size(void);

/* Number of processors available to this process, by affinity and cgroup
 * quota. */
int cr_cpu_count(void);

/* Pins each thread of the pool, the caller included, to a processor of its own
 * until the pool is started again. Returns false and does nothing if there are
 * more threads than processors. */
bool cr_thread_pin(void);
/* cr_thread_unpin lets the calling thread, which inherited the affinity of its
 * creator, run on all processors of the process; cr_thread_restore_affinity
 * pins the caller of cr_thread_pin again. No effect if the pool is not
 * pinned. */
void cr_thread_unpin(void);
void cr_thread_restore_affinity(void);

#endif

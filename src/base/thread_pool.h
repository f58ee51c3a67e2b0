/*
 * The one pool of threads.
 *
 * cr_parallel_run runs a function once per task, task 0 in the caller, and
 * returns when all n_tasks are done. The caller also runs n_tasks that no
 * thread has begun when it is through with its own, so a task is not bound to a
 * thread and must not wait for a later one. Threads spin for a moment between
 * calls, because a training step is a dense row of them, and sleep in the
 * kernel after that, so an idle process costs nothing and other processes get
 * their share. Nested calls run their n_tasks one after the other in the
 * caller.
 *
 * This is the program's only state outside of what a caller holds: it stands
 * for the machine, of which there is one.
 */
#ifndef CR_BASE_THREAD_POOL_H
#define CR_BASE_THREAD_POOL_H

#include <stdbool.h>
#include <stddef.h>

/* Makes the pool `threads` wide (the caller counts); again to change it. */
void cr_thread_pool_start(int threads);
void cr_thread_pool_stop(void);
int cr_thread_count(void); /* 1 before the start */

/* fn(ctx, task, n_tasks) for task 0 .. n_tasks - 1; n_tasks <=
 * cr_thread_count(). */
void cr_parallel_run(void (*fn)(void *ctx, int task, int n_tasks), void *ctx,
                     int n_tasks);

/* Working memory of the calling thread, at least this much and aligned to 64:
 * undefined on entry, the same at the next call, gone with the thread or, in
 * the one that stops the pool, with the pool. It grows where it is too small:
 * what runs often reserves the most that it will ask for. */
void *cr_thread_scratch(size_t bytes);
/* So much for the caller and each thread of the pool, while nothing runs. */
void cr_thread_scratch_reserve(size_t bytes);
/* The most that the caller or a thread of the pool has, while nothing runs. */
size_t cr_thread_scratch_size(void);

/* Processors given to this process: affinity and cgroup quota. */
int cr_cpu_count(void);

/* Keeps each thread of the pool, and the caller as the first of them, on a
 * processor of its own; false, and nothing done, where there are more threads
 * than processors. Until the pool is started again. */
bool cr_thread_pin(void);
/* Lets the calling thread, which began with the place of who began it, run
 * anywhere; and the caller of cr_thread_pin go back to its own place. Both do
 * nothing in a pool that is not pinned. */
void cr_thread_unpin(void);
void cr_thread_restore_affinity(void);

#endif

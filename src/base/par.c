#include "base/par.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAR_MAX 256
#define PAR_SPINS 4000 /* some 50 us of pauses before sleeping */

static struct {
    int threads;           /* the caller among them */
    bool crowded;          /* more threads than processors: do not spin */
    pthread_t thread[PAR_MAX];
    void (*fn)(void *ctx, int part, int parts);
    void *ctx;
    int parts;
    bool quit;
    _Alignas(64) atomic_uint call;      /* number of the job; changes wake */
    _Alignas(64) atomic_uint sleepers;  /* threads waiting in the kernel */
    _Alignas(64) atomic_int left;       /* parts not finished */
    _Alignas(64) atomic_uint waiting;   /* the caller sleeps on `left` */
} pool = { .threads = 1 };

static _Thread_local bool inside;

static void futex(atomic_uint *at, int op, unsigned value)
{
    syscall(SYS_futex, at, op | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

static void pause_once(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#else
    atomic_signal_fence(memory_order_seq_cst);
#endif
}

static unsigned next_call(unsigned seen)
{
    int i, spins = pool.crowded ? 1 : PAR_SPINS;
    unsigned now;

    for (i = 0; i < spins; i++) {
        now = atomic_load_explicit(&pool.call, memory_order_acquire);
        if (now != seen)
            return now;
        pause_once();
    }
    atomic_fetch_add(&pool.sleepers, 1);
    while ((now = atomic_load(&pool.call)) == seen)
        futex(&pool.call, FUTEX_WAIT, seen);
    atomic_fetch_sub(&pool.sleepers, 1);
    return now;
}

static void *work(void *arg)
{
    int me = (int)(intptr_t)arg;
    unsigned seen = 0;

    inside = true;
    for (;;) {
        seen = next_call(seen);
        if (pool.quit)
            return NULL;
        if (me < pool.parts)
            pool.fn(pool.ctx, me, pool.parts);
        if (atomic_fetch_sub(&pool.left, 1) == 1 &&
            atomic_load(&pool.waiting) == 1) {
            atomic_store(&pool.waiting, 0);
            futex(&pool.waiting, FUTEX_WAKE, 1);
        }
    }
}

static void publish(void)
{
    atomic_fetch_add(&pool.call, 1);
    if (atomic_load(&pool.sleepers) > 0)
        futex(&pool.call, FUTEX_WAKE, INT_MAX);
}

void cr_par(void (*fn)(void *ctx, int part, int parts), void *ctx, int parts)
{
    int i, spins = pool.crowded ? 1 : PAR_SPINS;

    if (parts > pool.threads)
        parts = pool.threads;
    if (parts <= 1) {
        fn(ctx, 0, 1);
        return;
    }
    if (inside) {
        for (i = 0; i < parts; i++)
            fn(ctx, i, parts);
        return;
    }
    /* left counts every thread, also those without a part: the job's fields
     * rest until all have seen them */
    pool.fn = fn;
    pool.ctx = ctx;
    pool.parts = parts;
    atomic_store(&pool.left, pool.threads - 1);
    inside = true;
    publish();
    fn(ctx, 0, parts);
    for (i = 0; atomic_load_explicit(&pool.left, memory_order_acquire) > 0;
         i++) {
        if (i < spins) {
            pause_once();
            continue;
        }
        atomic_store(&pool.waiting, 1);
        if (atomic_load(&pool.left) > 0)
            futex(&pool.waiting, FUTEX_WAIT, 1);
        atomic_store(&pool.waiting, 0);
    }
    inside = false;
}

void cr_par_stop(void)
{
    int i;

    if (pool.threads <= 1)
        return;
    pool.quit = true;
    publish();
    for (i = 1; i < pool.threads; i++)
        pthread_join(pool.thread[i], NULL);
    pool.quit = false;
    pool.threads = 1;
}

void cr_par_start(int threads)
{
    sigset_t all, old;
    int i;

    cr_par_stop();
    if (threads > PAR_MAX)
        threads = PAR_MAX;
    pool.crowded = threads > cr_par_cpus();
    atomic_store(&pool.call, 0);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    for (i = 1; i < threads; i++)
        if (pthread_create(&pool.thread[i], NULL, work,
                           (void *)(intptr_t)i) != 0)
            break; /* fewer threads give the same results, more slowly */
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pool.threads = i < 1 ? 1 : i;
}

int cr_par_threads(void)
{
    return pool.threads;
}

/* Processors that a cgroup's quota allows, rounded up; 0: no limit. */
static int quota(void)
{
    double max, period;
    char text[64];
    FILE *f = fopen("/sys/fs/cgroup/cpu.max", "re");
    int n = 0;

    if (f) {
        if (fscanf(f, "%63s %lf", text, &period) == 2 &&
            strcmp(text, "max") != 0 && period > 0)
            n = (int)((strtod(text, NULL) + period - 1) / period);
        fclose(f);
        return n;
    }
    f = fopen("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "re");
    if (!f)
        return 0;
    if (fscanf(f, "%lf", &max) != 1)
        max = -1;
    fclose(f);
    f = fopen("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "re");
    if (!f)
        return 0;
    if (max > 0 && fscanf(f, "%lf", &period) == 1 && period > 0)
        n = (int)((max + period - 1) / period);
    fclose(f);
    return n;
}

int cr_par_cpus(void)
{
    cpu_set_t set;
    int n = 1, limit = quota();

    if (sched_getaffinity(0, sizeof set, &set) == 0)
        n = CPU_COUNT(&set);
    if (limit > 0 && limit < n)
        n = limit;
    return n < 1 ? 1 : n;
}

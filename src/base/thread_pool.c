#include "base/thread_pool.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/mapping.h"

#define PAR_SPINS 4000 /* some 50 us of pauses before sleeping */

/* A task is offered to its thread; the thread runs it, or the caller after its
 * own task. So the caller waits for a thread only if that thread has started a
 * task, not if it sleeps or has no processor. The plain fields describe the
 * job; they do not change while an offer is open or a task runs. */
struct seat {
    _Alignas(64) atomic_uint offer; /* CLOSED, OPEN, or ASLEEP and closed */
    _Alignas(64) atomic_ullong range; /* that the task of this number shares */
    _Alignas(64) pthread_t thread; /* apart from what others write */
    struct scratch {
        void *at;
        size_t bytes;
    } scratch;
};

enum {
    CLOSED,
    OPEN,
    ASLEEP
};

static struct {
    int threads; /* number of threads, including the caller */
    int spins;
    void (*fn)(void *ctx, int task, int n_tasks);
    void *ctx;
    int n_tasks;
    bool quit;
    bool pinned;    /* atomic: threads that start ask for it */
    cpu_set_t cpus; /* processors of the process, once the pool is pinned */
    size_t first;                  /* processor of the caller */
    _Alignas(64) atomic_int left;  /* unfinished tasks, without the caller's */
    atomic_uint waiting;           /* the caller sleeps on `left` */
    _Alignas(64) atomic_bool busy; /* a thread is in cr_parallel_run */
    struct seat seat[CR_THREADS_MAX];
} pool = { .threads = 1 };

static _Thread_local bool inside;
static _Thread_local bool sharing; /* in a task, while others run theirs */
static _Thread_local struct seat *own_seat; /* NULL: not a thread of the pool */

static void futex(atomic_uint *at, int op, unsigned value)
{
    syscall(SYS_futex, at, op | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

static void pause_once(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static bool take(struct seat *seat)
{
    unsigned open = OPEN;

    return atomic_load_explicit(&seat->offer, memory_order_relaxed) == OPEN &&
           atomic_compare_exchange_strong(&seat->offer, &open, CLOSED);
}

/* Waits for an offer and takes it. */
static void wait_for_offer(struct seat *seat)
{
    unsigned closed;
    int i;

    for (;;) {
        for (i = 0; i < pool.spins; i++) {
            if (take(seat))
                return;
            pause_once();
        }
        closed = CLOSED;
        atomic_compare_exchange_strong(&seat->offer, &closed, ASLEEP);
        while (atomic_load(&seat->offer) == ASLEEP)
            futex(&seat->offer, FUTEX_WAIT, ASLEEP);
    }
}

static void offer(struct seat *seat)
{
    if (atomic_exchange(&seat->offer, OPEN) == ASLEEP)
        futex(&seat->offer, FUTEX_WAKE, 1);
}

static void *work(void *arg)
{
    int me = (int)(intptr_t)arg;

    inside = sharing = true;
    own_seat = &pool.seat[me];
    for (;;) {
        wait_for_offer(&pool.seat[me]);
        if (pool.quit)
            return NULL;
        pool.fn(pool.ctx, me, pool.n_tasks);
        /* a late read of `waiting` may wake the next job's caller early,
         * which checks again */
        if (atomic_fetch_sub(&pool.left, 1) == 1 &&
            atomic_exchange(&pool.waiting, 0) == 1)
            futex(&pool.waiting, FUTEX_WAKE, 1);
    }
}

static void await(void)
{
    int i;

    for (i = 0; i < pool.spins; i++) {
        if (atomic_load_explicit(&pool.left, memory_order_acquire) == 0)
            return;
        pause_once();
    }
    for (;;) {
        atomic_store(&pool.waiting, 1);
        if (atomic_load(&pool.left) == 0)
            break;
        futex(&pool.waiting, FUTEX_WAIT, 1);
    }
    atomic_store(&pool.waiting, 0);
}

/* All tasks, one after the other. */
static void run_alone(void (*fn)(void *ctx, int task, int n_tasks), void *ctx,
                      int n_tasks)
{
    bool before = sharing;
    int i;

    sharing = false;
    if (n_tasks < 1)
        n_tasks = 1;
    for (i = 0; i < n_tasks; i++)
        fn(ctx, i, n_tasks);
    sharing = before;
}

void cr_parallel_run(void (*fn)(void *ctx, int task, int n_tasks), void *ctx,
                     int n_tasks)
{
    int i;

    if (n_tasks > pool.threads)
        n_tasks = pool.threads;
    if (n_tasks <= 1 || inside || atomic_exchange(&pool.busy, true)) {
        run_alone(fn, ctx, n_tasks);
        return;
    }
    pool.fn = fn;
    pool.ctx = ctx;
    pool.n_tasks = n_tasks;
    atomic_store_explicit(&pool.left, n_tasks - 1, memory_order_relaxed);
    inside = sharing = true;
    for (i = 1; i < n_tasks; i++)
        offer(&pool.seat[i]);
    fn(ctx, 0, n_tasks);
    for (i = 1; i < n_tasks; i++)
        if (take(&pool.seat[i])) {
            fn(ctx, i, n_tasks);
            atomic_fetch_sub(&pool.left, 1);
        }
    await();
    inside = sharing = false;
    atomic_store_explicit(&pool.busy, false, memory_order_release);
}

/* ---- ranges ---- */

/* A range in one word: its loop, first and end. A word that was read changes
 * if anything of it does: within a job a task opens each loop once, and no
 * task of one job is at work in the next. */
#define RANGE_BITS 24
#define RANGE_MASK ((1u << RANGE_BITS) - 1)

static unsigned long long range_word(unsigned loop, int64_t from, int64_t to)
{
    return (unsigned long long)(loop & 0xffff) << (2 * RANGE_BITS) |
           (unsigned long long)from << RANGE_BITS | (unsigned long long)to;
}

void cr_range_open(struct cr_range *range, int task, int n_tasks, unsigned loop,
                   int64_t from, int64_t to, int64_t min_piece)
{
    *range = (struct cr_range){ .task = task, .n_tasks = n_tasks,
                                .loop = loop, .min_piece = min_piece,
                                .shared = sharing && n_tasks > 1 &&
                                          to <= RANGE_MASK,
                                .from = from, .to = to };
    if (range->shared)
        atomic_store_explicit(&pool.seat[task].range,
                              range_word(loop, from, to),
                              memory_order_release);
}

void cr_range_split(struct cr_range *range, int task, int n_tasks, int64_t n,
                    int64_t min_piece)
{
    cr_range_open(range, task, n_tasks, 0, n * task / n_tasks,
                  n * (task + 1) / n_tasks, min_piece);
}

/* A piece of the range of a task: its first part for itself, its last for
 * others. */
static bool range_take(const struct cr_range *range, int task, int64_t *from,
                       int64_t *to)
{
    atomic_ullong *at = &pool.seat[task].range;
    unsigned long long word = atomic_load_explicit(at, memory_order_acquire);
    unsigned long long rest;
    int64_t n, min_piece = range->min_piece, cut;

    do {
        *from = (int64_t)(word >> RANGE_BITS) & RANGE_MASK;
        *to = (int64_t)word & RANGE_MASK;
        n = *to - *from;
        if (n <= 0 || word >> (2 * RANGE_BITS) != (range->loop & 0xffff))
            return false;
        cut = *from + (n <= min_piece       ? 0
                       : n <= 2 * min_piece ? min_piece
                                        : n / 2 / min_piece * min_piece);
        if (task == range->task)
            rest = range_word(range->loop, n <= min_piece ? *to : cut, *to);
        else
            rest = range_word(range->loop, *from, cut);
    } while (!atomic_compare_exchange_weak(at, &word, rest));
    if (task != range->task)
        *from = cut;
    else if (n > min_piece)
        *to = cut;
    return true;
}

bool cr_range_next(struct cr_range *range, int64_t *from, int64_t *to)
{
    int i;

    if (!range->shared) {
        *from = range->from;
        *to = range->to;
        range->from = range->to;
        return *from < *to;
    }
    /* of few others, or many would look at each other for longer than the
     * piece takes: 1, 2, 4, ... further */
    for (i = 0; i < range->n_tasks; i = i > 0 ? 2 * i : 1)
        if (range_take(range, (range->task + i) % range->n_tasks, from, to))
            return true;
    return false;
}

int cr_thread_count(void)
{
    return pool.threads;
}

/* ---- start and stop ---- */

/* Frees the scratch memory of a thread outside the pool when it ends. */
static pthread_key_t scratch_key;
static pthread_once_t scratch_once = PTHREAD_ONCE_INIT;
static _Thread_local struct scratch own_scratch;

static void scratch_free(struct scratch *scratch)
{
    free(scratch->at);
    *scratch = (struct scratch){ 0 };
}

void cr_thread_pool_stop(void)
{
    int i;

    cr_thread_unpin();
    __atomic_store_n(&pool.pinned, false, __ATOMIC_RELAXED);
    if (pool.threads > 1) {
        pool.quit = true;
        for (i = 1; i < pool.threads; i++)
            offer(&pool.seat[i]);
        for (i = 1; i < pool.threads; i++)
            pthread_join(pool.seat[i].thread, NULL);
        for (i = 1; i < pool.threads; i++)
            scratch_free(&pool.seat[i].scratch);
        pool.quit = false;
        pool.threads = 1;
    }
    if (own_scratch.at) {
        pthread_setspecific(scratch_key, NULL);
        scratch_free(&own_scratch);
    }
}

void cr_thread_pool_start(int threads)
{
    sigset_t all, old;
    int i;

    cr_thread_pool_stop();
    if (threads > CR_THREADS_MAX)
        threads = CR_THREADS_MAX;
    /* more threads than processors: spinning would block the others */
    pool.spins = threads > cr_cpu_count() ? 1 : PAR_SPINS;
    cr_signals_blockable(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    for (i = 1; i < threads; i++) {
        atomic_store(&pool.seat[i].offer, CLOSED);
        if (pthread_create(&pool.seat[i].thread, NULL, work,
                           (void *)(intptr_t)i) != 0)
            break; /* fewer threads give the same results, more slowly */
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pool.threads = i;
}

/* ---- working memory ---- */

static void scratch_make_key(void)
{
    if (pthread_key_create(&scratch_key, free) != 0)
        cr_out_of_memory(sizeof scratch_key);
}

static void scratch_grow(struct scratch *scratch, size_t bytes)
{
    bytes = (bytes + 63) / 64 * 64;
    free(scratch->at);
    scratch->at = aligned_alloc(64, bytes);
    if (!scratch->at)
        cr_out_of_memory(bytes);
    scratch->bytes = bytes;
}

void *cr_thread_scratch(size_t bytes)
{
    struct scratch *scratch = own_seat ? &own_seat->scratch : &own_scratch;

    if (bytes <= scratch->bytes)
        return scratch->at;
    scratch_grow(scratch, bytes);
    if (!own_seat) {
        pthread_once(&scratch_once, scratch_make_key);
        if (pthread_setspecific(scratch_key, scratch->at) != 0)
            cr_out_of_memory(bytes);
    }
    return scratch->at;
}

void cr_thread_scratch_reserve(size_t bytes)
{
    int i;

    (void)cr_thread_scratch(bytes);
    for (i = 1; i < pool.threads; i++)
        if (pool.seat[i].scratch.bytes < bytes)
            scratch_grow(&pool.seat[i].scratch, bytes);
}

size_t cr_thread_scratch_size(void)
{
    size_t most = own_scratch.bytes;
    int i;

    for (i = 1; i < pool.threads; i++)
        if (pool.seat[i].scratch.bytes > most)
            most = pool.seat[i].scratch.bytes;
    return most;
}

/* ---- number of processors ---- */

static int in_whole(double max, double period)
{
    return max > 0 && period > 0 ? (int)((max + period - 1) / period) : 0;
}

/* The first line of a file of a cgroup; false if it does not exist. */
static bool quota_line(const char *folder, const char *name, char *line,
                       int size)
{
    char path[PATH_MAX + 64];
    FILE *f;
    bool ok;

    snprintf(path, sizeof path, "/sys/fs/cgroup%s/%s", folder, name);
    f = fopen(path, "re");
    if (!f)
        return false;
    ok = fgets(line, size, f) != NULL;
    fclose(f);
    return ok;
}

/* The limit of one cgroup in processors, rounded up; 0: no limit. Version 2 has
 * "max period" in one file, version 1 has two files, with -1 for no limit. */
static int quota_at(const char *folder)
{
    char max[64], period[64], *end;
    double value;

    if (quota_line(folder, "cpu.max", max, sizeof max)) {
        value = strtod(max, &end);
        return end == max ? 0 : in_whole(value, strtod(end, NULL));
    }
    if (quota_line(folder, "cpu.cfs_quota_us", max, sizeof max) &&
        quota_line(folder, "cpu.cfs_period_us", period, sizeof period))
        return in_whole(strtod(max, NULL), strtod(period, NULL));
    return 0;
}

/* The smallest quota of the cgroups from `folder` up to `root`. */
static int quota_on_way(const char *root, const char *folder)
{
    char path[PATH_MAX];
    size_t keep = strlen(root);
    int least = 0;

    snprintf(path, sizeof path, "%s%s", root, folder);
    for (;;) {
        int n = quota_at(path);
        char *slash = strrchr(path + keep, '/');

        if (n > 0 && (least == 0 || n < least))
            least = n;
        if (!slash)
            return least;
        *slash = '\0';
    }
}

/* /proc/self/cgroup has lines "id:controllers:folder"; version 2's is "0::"
 * and its folder, which in a container is the root of what is mounted. */
static int quota(void)
{
    char line[PATH_MAX + 64];
    FILE *f = fopen("/proc/self/cgroup", "re");
    int least = 0;

    if (!f)
        return quota_on_way("", "");
    while (fgets(line, sizeof line, f)) {
        char *names = strchr(line, ':'), *folder;
        int n;

        folder = names ? strchr(names + 1, ':') : NULL;
        if (!folder)
            continue;
        *folder++ = '\0';
        folder[strcspn(folder, "\n")] = '\0';
        if (names[1] == '\0')
            n = quota_on_way("", folder);
        else if (strstr(names, "cpu") && !strstr(names, "cpuset"))
            n = quota_on_way("/cpu", folder);
        else
            continue;
        if (n > 0 && (least == 0 || n < least))
            least = n;
    }
    fclose(f);
    return least;
}

int cr_cpu_count(void)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    int n = online < 1 ? 1 : (int)online, limit = quota();
    cpu_set_t set;

    if (__atomic_load_n(&pool.pinned, __ATOMIC_RELAXED))
        n = CPU_COUNT(&pool.cpus);
    else if (sched_getaffinity(0, sizeof set, &set) == 0)
        n = CPU_COUNT(&set);
    return limit > 0 && limit < n ? limit : n;
}

/* ---- affinity ---- */

static void place(pthread_t thread, size_t cpu)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    /* a processor that has gone offline is not an error */
    (void)pthread_setaffinity_np(thread, sizeof one, &one);
}

bool cr_thread_pin(void)
{
    size_t cpu = 0;

    if (pool.pinned ||
        sched_getaffinity(0, sizeof pool.cpus, &pool.cpus) != 0 ||
        pool.threads > CPU_COUNT(&pool.cpus))
        return pool.pinned;
    for (int i = 0; i < pool.threads; i++, cpu++) {
        while (!CPU_ISSET(cpu, &pool.cpus))
            cpu++;
        if (i == 0)
            pool.first = cpu;
        place(i == 0 ? pthread_self() : pool.seat[i].thread, cpu);
    }
    __atomic_store_n(&pool.pinned, true, __ATOMIC_RELAXED);
    return true;
}

void cr_thread_unpin(void)
{
    if (__atomic_load_n(&pool.pinned, __ATOMIC_RELAXED))
        (void)pthread_setaffinity_np(pthread_self(), sizeof pool.cpus,
                                     &pool.cpus);
}

void cr_thread_restore_affinity(void)
{
    if (__atomic_load_n(&pool.pinned, __ATOMIC_RELAXED))
        place(pthread_self(), pool.first);
}

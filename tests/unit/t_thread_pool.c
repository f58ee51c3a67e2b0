/* The pool: every part once, nested and concurrent calls, start and stop; what
 * tasks share out among themselves. */
#include "base/thread_pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"

enum {
    PARTS = 8
};

struct counts {
    atomic_int seen[PARTS], wrong;
    int parts;
};

static void count_part(void *ctx, int task, int n_tasks)
{
    struct counts *c = ctx;

    if (task < 0 || task >= n_tasks || n_tasks != c->parts)
        atomic_fetch_add(&c->wrong, 1);
    else
        atomic_fetch_add(&c->seen[task], 1);
}

static bool each_once(int times, int parts)
{
    struct counts c = { .parts = parts };
    int i;

    for (i = 0; i < times; i++)
        cr_parallel_run(count_part, &c, parts);
    for (i = 0; i < parts; i++)
        if (c.seen[i] != times)
            return false;
    return c.wrong == 0;
}

static void test_parts(void)
{
    int threads, parts, i;
    bool good;

    ok(cr_thread_count() == 1, "one thread before the start");
    ok(each_once(3, 1), "one part before the start");
    for (threads = 1; threads <= PARTS; threads++) {
        cr_thread_pool_start(threads);
        ok(cr_thread_count() == threads, "%d threads are there", threads);
        for (good = true, parts = 1; parts <= threads; parts++)
            good = each_once(50, parts) && good;
        ok(good, "%d threads: each part runs once, with fewer parts too",
           threads);
    }
    for (good = true, i = 0; i < 50; i++) {
        cr_thread_pool_start(1 + i % 4);
        good = each_once(1, 1 + i % 4) && good;
        cr_thread_pool_stop();
    }
    ok(good && cr_thread_count() == 1, "start and stop, 50 times");
}

/* Asking for more parts than threads gives as many as there are threads. */
static void test_too_many(void)
{
    struct counts c = { .parts = 2 };

    cr_thread_pool_start(2);
    cr_parallel_run(count_part, &c, 100);
    ok(c.wrong == 0 && c.seen[0] == 1 && c.seen[1] == 1,
       "parts are limited to the threads");
    cr_thread_pool_stop();
}

static void nested_part(void *ctx, int task, int n_tasks)
{
    struct counts *inner = ctx;

    (void)task;
    (void)n_tasks;
    cr_parallel_run(count_part, inner, inner->parts);
}

static void test_nested(void)
{
    struct counts c = { .parts = 3 };

    cr_thread_pool_start(3);
    cr_parallel_run(nested_part, &c, 3);
    ok(c.wrong == 0 && c.seen[0] == 3 && c.seen[1] == 3 && c.seen[2] == 3,
       "a call from within runs all parts in its caller");
    cr_thread_pool_stop();
}

static void *other_caller(void *arg)
{
    bool *good = arg;

    *good = each_once(2000, 2);
    return NULL;
}

static void test_concurrent(void)
{
    pthread_t other;
    bool good[2] = { false, false };

    cr_thread_pool_start(2);
    pthread_create(&other, NULL, other_caller, &good[1]);
    other_caller(&good[0]);
    pthread_join(other, NULL);
    ok(good[0] && good[1], "two callers at once do not meet");
    cr_thread_pool_stop();
}

/* Sleeps are longer than the pool spins: both sides come from the kernel. */
static void slow_part(void *ctx, int task, int n_tasks)
{
    (void)n_tasks;
    if (task == 1)
        usleep(2000);
    atomic_fetch_add((atomic_int *)ctx, 1);
}

static void test_sleep(void)
{
    atomic_int n = 0;
    int i;

    cr_thread_pool_start(3);
    for (i = 0; i < 20; i++) {
        usleep(500);
        cr_parallel_run(slow_part, &n, 3);
    }
    ok(n == 60, "sleeping threads are woken, and wake the caller");
    cr_thread_pool_stop();
}

/* A part is not bound to a thread: whoever is free takes it. Here part 0 waits
 * until the others have begun, so that each has a thread of its own. */
static void meet(atomic_int *begun, int task, int n_tasks)
{
    atomic_fetch_add(begun, 1);
    while (task == 0 && atomic_load(begun) < n_tasks)
        sched_yield();
}

static atomic_int handled_in;

static void on_signal(int number)
{
    (void)number;
    atomic_store(&handled_in, (int)gettid());
}

struct signals {
    atomic_int begun;
    bool blocked;
};

static void signal_part(void *ctx, int task, int n_tasks)
{
    struct signals *s = ctx;
    sigset_t set;

    meet(&s->begun, task, n_tasks);
    pthread_sigmask(SIG_SETMASK, NULL, &set);
    if (task == 1 && !sigismember(&set, SIGTERM))
        s->blocked = false;
}

static void test_signals(void)
{
    struct signals s = { .blocked = true };
    sigset_t set;

    signal(SIGTERM, on_signal);
    cr_thread_pool_start(2);
    cr_parallel_run(signal_part, &s, 2);
    ok(s.blocked, "the pool's threads block signals");
    kill(getpid(), SIGTERM);
    ok(handled_in == (int)gettid(), "the main thread gets them");
    pthread_sigmask(SIG_SETMASK, NULL, &set);
    ok(!sigismember(&set, SIGTERM), "the caller's mask is as it was");
    cr_thread_pool_stop();
}

struct rooms {
    atomic_int begun;
    char *at[3];
};

static void room_part(void *ctx, int task, int n_tasks)
{
    struct rooms *r = ctx;

    r->at[task] = cr_thread_scratch(1000);
    memset(r->at[task], task, 1000);
    meet(&r->begun, task, n_tasks);
}

static void test_room(void)
{
    struct rooms r = { 0 };
    int i, j;
    bool good = true;

    cr_thread_pool_start(3);
    cr_parallel_run(room_part, &r, 3);
    for (i = 0; i < 3; i++) {
        good = good && (uintptr_t)r.at[i] % 64 == 0;
        for (j = 0; j < 1000; j++)
            good = good && r.at[i][j] == i;
    }
    ok(good, "each thread has working memory of its own");
    memset(cr_thread_scratch(100000), 1, 100000);
    ok((uintptr_t)cr_thread_scratch(10) % 64 == 0, "which can grow");
    cr_thread_pool_start(3);
    cr_thread_scratch_reserve(5000);
    good = cr_thread_scratch_size() >= 5000;
    r.begun = 0;
    cr_parallel_run(room_part, &r, 3);
    ok(good && cr_thread_scratch_size() < 5064 && r.at[2] != r.at[1] &&
           r.at[1] && r.at[1] != r.at[0],
       "what is reserved is there for each thread");
    cr_thread_pool_stop();
    memset(cr_thread_scratch(10), 1, 10);
    ok((uintptr_t)cr_thread_scratch(10) % 64 == 0,
       "and is there again after a stop");
    cr_thread_pool_stop();
}

static void place_part(void *ctx, int task, int n_tasks)
{
    atomic_int *at = ctx;
    cpu_set_t set;

    sched_getaffinity(0, sizeof set, &set);
    atomic_store(&at[task + 1], CPU_COUNT(&set) == 1 ? sched_getcpu() + 1 : 0);
    meet(&at[0], task, n_tasks);
}

static void test_pin(void)
{
    atomic_int at[3] = { 0 };
    cpu_set_t before, loose, back, after;
    int cpus;

    sched_getaffinity(0, sizeof before, &before);
    cpus = cr_cpu_count();
    cr_thread_pool_start(2);
    if (CPU_COUNT(&before) < 2) {
        ok(!cr_thread_pin(), "one processor for two threads: not pinned");
        cr_thread_pool_stop();
        return;
    }
    ok(cr_thread_pin(), "pinned");
    cr_parallel_run(place_part, at, 2);
    ok(at[1] > 0 && at[2] > 0 && at[1] != at[2],
       "each thread on one processor, not on the same");
    ok(cr_cpu_count() == cpus, "their number is as before");
    cr_thread_unpin();
    sched_getaffinity(0, sizeof loose, &loose);
    cr_thread_restore_affinity();
    sched_getaffinity(0, sizeof back, &back);
    ok(CPU_EQUAL(&loose, &before) && CPU_COUNT(&back) == 1,
       "loose, and back in its place");
    cr_thread_pool_start(2);
    sched_getaffinity(0, sizeof after, &after);
    ok(CPU_EQUAL(&after, &before), "another start undoes it");
    cr_thread_pool_stop();
    cr_thread_pool_start(CPU_COUNT(&before) + 1);
    ok(!cr_thread_pin(), "more threads than processors: not pinned");
    cr_thread_pool_stop();
}

/* ---- ranges ---- */

enum {
    LOOPS = 3,
    MOST = 3000
};

/* Loops of one job, each over its own numbers. */
struct loops {
    atomic_int seen[LOOPS][MOST], begins_wrong, n_seen;
    int64_t n, least;
};

static void loops_part(void *ctx, int task, int n_tasks)
{
    struct loops *l = ctx;
    struct cr_range range;
    int64_t i, to, first = l->n * task / n_tasks, before;
    int k;

    for (k = 0; k < LOOPS; k++) {
        cr_range_open(&range, task, n_tasks, (unsigned)k, first,
                      l->n * (task + 1) / n_tasks, l->least);
        while (cr_range_next(&range, &i, &to)) {
            before = i;
            for (; i < to; i++) {
                atomic_fetch_add(&l->seen[k][i], 1);
                atomic_fetch_add(&l->n_seen, 1);
            }
            if (before >= first && before < l->n * (task + 1) / n_tasks &&
                (before - first) % l->least != 0)
                atomic_fetch_add(&l->begins_wrong, 1);
            if (task % 2 == 1)
                sched_yield();
        }
    }
}

static bool loops_once(struct loops *l)
{
    int64_t i;
    int k;

    for (k = 0; k < LOOPS; k++)
        for (i = 0; i < MOST; i++)
            if (l->seen[k][i] != (i < l->n))
                return false;
    return l->begins_wrong == 0;
}

static void loops_nested(void *ctx, int task, int n_tasks)
{
    struct loops *l = ctx;

    (void)n_tasks;
    cr_parallel_run(loops_part, &l[task], 3);
}

static void test_ranges(void)
{
    static struct loops l[3];
    bool good = true;
    int threads, i;

    for (threads = 1; threads <= PARTS; threads++) {
        cr_thread_pool_start(threads);
        for (i = 0; i < 200; i++) {
            memset(l, 0, sizeof l);
            l->n = rand() % (i % 2 ? 40 : MOST);
            l->least = 1 + rand() % 9;
            cr_parallel_run(loops_part, l, threads);
            good = loops_once(l) && good;
        }
        cr_thread_pool_stop();
    }
    ok(good, "loops over ranges: each number once, in its own loop");
    memset(l, 0, sizeof l);
    cr_thread_pool_start(3);
    for (i = 0; i < 3; i++) {
        l[i].n = 100 + i;
        l[i].least = 4;
    }
    cr_parallel_run(loops_nested, l, 3);
    ok(loops_once(&l[0]) && loops_once(&l[1]) && loops_once(&l[2]),
       "from within, too");
    cr_thread_pool_stop();
}

/* Task 0 takes one piece and has done nothing of it as long as others are at
 * work: the rest of its range is theirs. */
static void helped_part(void *ctx, int task, int n_tasks)
{
    static atomic_bool taken;
    atomic_int *left = ctx;
    struct cr_range range;
    int64_t from, to;
    int waits = 0;

    while (task == 1 && !atomic_load(&taken))
        sched_yield();
    cr_range_split(&range, task, n_tasks, 64, 1);
    while (cr_range_next(&range, &from, &to)) {
        atomic_store(&taken, true);
        if (task == 0)
            while (atomic_load(left) > to - from && waits++ < 20000)
                usleep(1000);
        atomic_fetch_sub(left, (int)(to - from));
    }
    if (waits >= 20000)
        atomic_store(left, -1000);
}

static void test_helped(void)
{
    atomic_int left = 64;

    cr_thread_pool_start(2);
    cr_parallel_run(helped_part, &left, 2);
    ok(left == 0, "what a task has not begun, another one does");
    cr_thread_pool_stop();
}

int main(void)
{
    test_parts();
    test_too_many();
    test_nested();
    test_concurrent();
    test_sleep();
    test_signals();
    test_room();
    test_pin();
    test_ranges();
    test_helped();
    ok(cr_cpu_count() >= 1 && cr_cpu_count() <= sysconf(_SC_NPROCESSORS_CONF),
       "processors: at least one, at most those there are");
    return done();
}

#include "base/prefetch.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compiler.h"

#define THREADS 16 /* requests under way */
#define BATCH 32   /* files whose time is taken together */
#define SLOW 60e-6 /* seconds per file that are worth threads */
#define STACK ((size_t)64 << 10)
#define PATH_SIZE 4096

struct cr_prefetch {
    const char *const *dir;
    const char *name;
    int n;
    int next;     /* atomic: the next directory for a thread */
    int reached;  /* atomic: the directory that the program is at */
    double since; /* when the present batch began */
    int started;  /* threads */
    pthread_t thread[THREADS];
};

/* Asks the kernel to read a file. */
static void prefetch_file(const struct cr_prefetch *p, int i)
{
    char path[PATH_SIZE];
    struct stat st;
    int len = snprintf(path, sizeof path, "%s/%s", p->dir[i], p->name), fd;

    if (len < 0 || len >= (int)sizeof path)
        return;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        (void)posix_fadvise(fd, 0, 0, POSIX_FADV_WILLNEED);
    close(fd);
}

static void *prefetch_thread(void *of)
{
    struct cr_prefetch *p = of;
    int i;

    while ((i = __atomic_fetch_add(&p->next, 1, __ATOMIC_RELAXED)) < p->n)
        if (i > __atomic_load_n(&p->reached, __ATOMIC_RELAXED))
            prefetch_file(p, i);
    return NULL;
}

/* Starts the threads, or as many as there can be. */
static void prefetch_threads(struct cr_prefetch *p)
{
    pthread_attr_t attr;
    sigset_t all, old;

    pthread_attr_init(&attr);
    (void)pthread_attr_setstacksize(&attr, STACK);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    p->next = p->reached + 1;
    while (p->started < THREADS && pthread_create(&p->thread[p->started], &attr,
                                                  prefetch_thread, p) == 0)
        p->started++;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
}

struct cr_prefetch *cr_prefetch_start(struct cr_arena *arena,
                                      const char *const *dir, int n,
                                      const char *name)
{
    struct cr_prefetch *p = CR_NEW(arena, struct cr_prefetch);

    p->dir = dir;
    p->n = n;
    p->name = name;
    p->since = cr_now();
    return p;
}

void cr_prefetch_reach(struct cr_prefetch *p, int i)
{
    double now;

    __atomic_store_n(&p->reached, i, __ATOMIC_RELAXED);
    if (p->started > 0 || i == 0 || i % BATCH != 0)
        return;
    now = cr_now();
    if (now - p->since > BATCH * SLOW && p->n - i > BATCH)
        prefetch_threads(p);
    p->since = now;
}

int cr_prefetch_end(struct cr_prefetch *p)
{
    __atomic_store_n(&p->next, p->n, __ATOMIC_RELAXED);
    for (int i = 0; i < p->started; i++)
        pthread_join(p->thread[i], NULL);
    return p->started;
}
